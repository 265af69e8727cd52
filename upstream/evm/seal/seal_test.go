package seal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/upstream/evm/seal"
)

// TestRecordedHashes computes the hash of every block and transaction of the golden ledgers, and the senders, and then
// changes one member of each, which must change the hash.
func TestRecordedHashes(t *testing.T) {
	type member struct {
		Hash, From, Input string
		To                *string
	}
	blocks, transactions := 0, 0
	for _, native := range []int{1, 137, 146, 8453} {
		var ledger struct {
			Blocks       []json.RawMessage
			Transactions map[string]json.RawMessage
		}
		recorded.JSON(t, fmt.Sprintf("golden/ledgers-A/ledger-A-%d.json", native), &ledger)
		for _, raw := range ledger.Blocks {
			var block member
			_ = json.Unmarshal(raw, &block)
			if hash, err := seal.HeaderHash(raw); err != nil || hash.String() != block.Hash {
				t.Errorf("chain %d: block %s: %s, %v", native, block.Hash, hash, err)
			}
			if hash, err := seal.HeaderHash(changed(t, raw, "timestamp")); err != nil || hash.String() == block.Hash {
				t.Errorf("chain %d: block %s of another time: %s, %v", native, block.Hash, hash, err)
			}
			blocks++
		}
		for _, raw := range ledger.Transactions {
			var tx member
			_ = json.Unmarshal(raw, &tx)
			if tx.To == nil {
				continue // the recording omits its input
			}
			from, _ := chain.ParseAddress(tx.From, chain.EVM)
			if signer, hash, err := seal.Signer(raw); err != nil || hash.String() != tx.Hash || signer != from {
				t.Errorf("chain %d: transaction %s: %s of %s, %v", native, tx.Hash, hash, signer.Format(chain.EVM), err)
			}
			if _, hash, _ := seal.Signer(changed(t, raw, "nonce")); hash.String() == tx.Hash {
				t.Errorf("chain %d: transaction %s with another nonce has the same hash", native, tx.Hash)
			}
			transactions++
		}
	}
	if blocks < 1000 || transactions < 300 {
		t.Errorf("%d blocks and %d transactions compared", blocks, transactions)
	}
}

// changed returns raw with another number in a member.
func changed(t *testing.T, raw json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	must.Do(t, json.Unmarshal(raw, &members))
	members[name] = json.RawMessage(`"0x123456"`)
	return must.Get(json.Marshal(members))(t)
}

// TestUnknownIsNotProven: a header or transaction with an unknown way of hashing, or none, has no hash.
func TestUnknownIsNotProven(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{`, "nothing": `{}`, "a deposit": `{"type":"0x7e","nonce":"0x0","gas":"0x1","v":"0x0","r":"0x0","s":"0x0"}`,
		"a signature of lists": `{"type":"0x0","nonce":"0x0","gasPrice":"0x0","gas":"0x0","to":null,"value":"0x0","input":"0x","v":[],"r":[],"s":[]}`,
		"a long signature": `{"type":"0x0","nonce":"0x0","gasPrice":"0x0","gas":"0x0","to":null,"value":"0x0","input":"0x",` +
			`"v":"0x1b","r":"0x01020304050607080910111213141516171819202122232425262728293031323334","s":"0x1"}`,
		// Duplicates of hashed members that encoding/json would prefer.
		"a second time in other letters": header[:len(header)-1] + `,"Timestamp":"0xb"}`,
		"a second time, escaped":         header[:len(header)-1] + `,"\u0074imestamp":"0xb"}`,
	} {
		if signer, _, err := seal.Signer([]byte(text)); err == nil {
			t.Errorf("%s is signed by %s", name, signer.Format(chain.EVM))
		}
		if _, err := seal.HeaderHash([]byte(text)); err == nil {
			t.Errorf("%s is a header", name)
		}
	}
}

// TestRootsOfLists compares with those of go-ethereum (types.DeriveSha), of values that nodes of the trie hold or hash.
func TestRootsOfLists(t *testing.T) {
	for _, row := range []struct {
		count, length int
		want          string
	}{
		{0, 1, "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"},
		{1, 1, "0xac92bc8d02906a87a573c32c72bb427036f0e43d7a7375c5c491ebba064add15"},
		{17, 1, "0xb5f0191287a69625ec4bfb78b8e4329fd334f2f7ed8728722da71137a3e6ee16"},
		{17, 28, "0xbf48951b12aadb0ef09fa41f558fe0b2de5c59bb7e9dbc9ff18f046eeb8cab10"},
		{17, 29, "0x3e3a940cb6d80cba10df0c05abc326fd2507c2241037c437a221b6824b0bbab4"},
		{17, 40, "0x0f92ff5d9a73f53633911a863ac78e1c82f8ab6d41029817977d649b6f9a55c3"},
		{300, 40, "0xa0e0669f5728793a069e7649a85ba87d5543a165daf2479ffe1d1ad30967d138"},
	} {
		list := make([][]byte, row.count)
		for i := range list {
			list[i] = bytes.Repeat([]byte{byte(i) | 1}, row.length)
		}
		if got := seal.ListRoot(list).String(); got != row.want {
			t.Errorf("root of %d times %d bytes = %s, want %s", row.count, row.length, got, row.want)
		}
	}
}

// TestFiltersSumUpWhatIsAdded compares with go-ethereum's (core/types, TestBloomExtensively), and with what is not in it.
func TestFiltersSumUpWhatIsAdded(t *testing.T) {
	const want = "0xc8d3ca65cdb4874300a9e39475508f23ed6da09fdbc487f89a2dcf50b09eb263"
	sum := seal.HeaderBloom{Known: true}
	for i := range 100 {
		sum.Bits.Add(fmt.Appendf(nil, "xxxxxxxxxx data %d yyyyyyyyyyyyyy", i))
	}
	if got := crypto.Keccak256Hash(sum.Bits[:]).Hex(); got != want || !sum.IsSparse() {
		t.Errorf("hash of the filter = %s, sparse: %t, want %s", got, sum.IsSparse(), want)
	}
	address, topic, other := chain.NewAddress(make([]byte, 20)), chain.Hash{1}, chain.Hash{2}
	sum.Bits.Add(topic[:])
	if sum.HoldsAny([]chain.Address{address}, []chain.Hash{topic}) {
		t.Error("it holds an address that was not added")
	}
	sum.Bits.Add(address.Bytes())
	if !sum.HoldsAny([]chain.Address{address}, []chain.Hash{other, topic}) || sum.HoldsAny([]chain.Address{address}, []chain.Hash{other}) {
		t.Error("it does not hold what was added alone")
	}
	for i := range 300 {
		sum.Bits.Add([]byte{byte(i), byte(i >> 8)})
	}
	if sum.IsSparse() {
		t.Error("with over a third of its bits set it is sparse")
	}
}

// TestOnlyFiltersAreFilters of blocks: nodes also send nothing, or bytes of another length.
func TestOnlyFiltersAreFilters(t *testing.T) {
	whole := strings.Repeat("01", len(seal.Bloom{}))
	for text, isKnown := range map[string]bool{
		`"0x` + whole + `"`: true, `"0x` + whole[2:] + `"`: false, `"0x` + whole[1:] + `g"`: false, `"` + whole + `"`: false,
		`"0x"`: false, `null`: false, `7`: false,
	} {
		var read seal.HeaderBloom
		if err := json.Unmarshal([]byte(text), &read); err != nil || read.Known != isKnown || read.HasBits() != isKnown {
			t.Errorf("%.20s: %t, %v, want known: %t", text, read.Known, err, isKnown)
		}
	}
}

const (
	header = `{"hash":"0x00","parentHash":"0x01","sha3Uncles":"0x02","miner":"0x03","stateRoot":"0x04","transactionsRoot":"0x05","receiptsRoot":"0x06",` +
		`"logsBloom":"0x07","difficulty":"0x0","number":"0x123","gasLimit":"0x8","gasUsed":"0x09","timestamp":"0xa","extraData":"0x","mixHash":"0x0b",` +
		`"nonce":"0x0c","baseFeePerGas":"0x7","withdrawals":[{"index":"0x1"}],"uncles":[]}`
	transaction = `{"type":"0x2","chainId":"0x1","nonce":"0x0","maxPriorityFeePerGas":"0x1","maxFeePerGas":"0x2","gas":"0x5208","to":null,"value":"0x10",` +
		`"input":"0x","accessList":[{"address":"0x01","storageKeys":["0x02","0x03"]}],"v":"0x1","r":"0x3","s":"0x4"}`
)

// TestHashesAllocateLittle: a follower hashes every block of its chain.
func TestHashesAllocateLittle(t *testing.T) {
	text := []byte(header)
	if count := testing.AllocsPerRun(100, func() { _, _ = seal.HeaderHash(text) }); count > 6 {
		t.Errorf("the hash of a header takes %v allocations, want at most 6", count)
	}
}

// FuzzHashes: white space between members does not change the hash.
func FuzzHashes(f *testing.F) {
	for _, text := range []string{header, transaction, `{"a\"b":"c\\","number":[{"x":[]}],"v":null}`, `{`, `{"type":`, `[`, ``, `"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		hash, err := seal.HeaderHash(text)
		signer, own, signErr := seal.Signer(text)
		var spaced bytes.Buffer
		if json.Indent(&spaced, text, "\t", "\r\n ") != nil {
			return
		}
		if again, otherErr := seal.HeaderHash(spaced.Bytes()); again != hash || (err == nil) != (otherErr == nil) {
			t.Errorf("header %s, %v; with white space %s, %v", hash, err, again, otherErr)
		}
		if by, again, otherErr := seal.Signer(spaced.Bytes()); by != signer || again != own || (signErr == nil) != (otherErr == nil) {
			t.Errorf("transaction %s, %v; with white space %s, %v", own, signErr, again, otherErr)
		}
	})
}
