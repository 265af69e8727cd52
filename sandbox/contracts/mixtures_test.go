package contracts

import (
	"bytes"
	"hash/fnv"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// TestForecastsOfMixtures mixes recorded calls, states and accounts: what verify would forecast must be what the
// contracts do. CROSSGATE_MIXTURES sets the number of mixtures per recorded call, each in some layout; the default is 1.
func TestForecastsOfMixtures(t *testing.T) {
	each := 1
	if text := os.Getenv("CROSSGATE_MIXTURES"); text != "" {
		each = must.Get(strconv.Atoi(text))(t)
	}
	for _, file := range []string{"create-vectors-A.json", "router-create-vectors-A.json"} {
		var r orderRecording
		recorded.JSON(t, "golden/create/"+file, &r)
		m := mixer{r: &r, came: map[string]int{}}
		m.signer = crypto.PubkeyToAddress(must.Get(crypto.ToECDSA(mixtureKey))(t).PublicKey)
		r.Accounts[m.signer] = "signer"
		for account := range r.Accounts {
			m.accounts = append(m.accounts, account)
		}
		slices.SortFunc(m.accounts, common.Address.Cmp)
		for _, c := range r.Cases {
			data := c.Tx.Data
			if outer, ok := argumentsOf(data); ok && outer[0].tuple == nil {
				data = outer[9].content
			}
			if parts, ok := partsOf(data); ok {
				m.donors = append(m.donors, parts)
			}
		}
		eachOrder(t, &r, nil, func(t *testing.T, world worldState, c orderCase) {
			if !prepare(t, &r, world, c) {
				return
			}
			seed := fnv.New64()
			seed.Write([]byte(c.ID))
			m.t, m.Rand = t, rand.New(rand.NewPCG(seed.Sum64(), 0))
			for range each {
				m.try(world, c)
			}
			r.chain(c.Chain).make(t, world[c.Chain], c)
		})
		t.Logf("%s: %v", file, m.came)
		if len(m.came) < 8 || 20*m.came["made"] < each*len(r.Cases) {
			t.Errorf("%s: %v, want a twentieth of the mixtures to be made, and the others to fail in many ways", file, m.came)
		}
	}
}

var mixtureKey = crypto.Keccak256([]byte("signer of mixtures"))

// mixer mixes creations. A creation's parts are the tuple's eleven, salt, affiliate, referral, permit and metadata.
type mixer struct {
	*rand.Rand
	t        *testing.T
	r        *orderRecording
	signer   common.Address // an account whose permits are valid
	accounts []common.Address
	donors   [][]argument
	came     map[string]int // outcomes of mixtures, counted
}

const saltPart, affiliatePart, referralPart, permitPart, metadataPart, allParts = 11, 12, 13, 14, 15, 16

// partsOf decodes a creation's calldata.
func partsOf(data []byte) (parts []argument, ok bool) {
	a, ok := argumentsOf(data)
	if !ok || a[0].tuple == nil {
		return nil, false
	}
	if len(a) == 4 {
		a = []argument{a[0], {word: make([]byte, 32)}, a[1], a[2], a[3], {}}
	}
	return append(slices.Clone(a[0].tuple), a[1:]...), true
}

// creation encodes parts as calldata, in a layout.
func (m *mixer) creation(parts []argument, isSalted bool, l layout) []byte {
	arguments := append([]argument{{tuple: parts[:saltPart]}}, parts[saltPart:]...)
	if isSalted {
		return append(slices.Clone(DlnSource.ABI.Methods["createSaltedOrder"].ID), l.encode(arguments)...)
	}
	arguments = slices.Delete(arguments[:len(arguments)-1], 1, 2)
	return append(slices.Clone(DlnSource.ABI.Methods["createOrder"].ID), l.encode(arguments)...)
}

func (m *mixer) of(n int) bool { return m.IntN(n) == 0 }

func pick[T any](m *mixer, from ...T) T { return from[m.IntN(len(from))] }

// amount returns an amount near a limit, or near another amount.
func (m *mixer) amount(near *big.Int) *big.Int {
	power := func(bits uint) *big.Int { return new(big.Int).Lsh(common.Big1, bits) }
	n := new(big.Int).Set(pick(m, common.Big0, common.Big1, big.NewInt(2499), big.NewInt(2500), power(48), power(64), power(208), power(255),
		power(256), new(big.Int).Div(power(256), big.NewInt(4)), near, near, near))
	n.Add(n, big.NewInt(pick(m, int64(0), 0, 0, 1, -1)))
	return n.And(n, new(big.Int).Sub(power(256), common.Big1))
}

func wordOf(n *big.Int) []byte { return common.BigToHash(n).Bytes() }

// raw returns bytes of one of the lengths that matter to contracts.
func (m *mixer) raw(lengths ...int) []byte {
	return bytes.Repeat([]byte{byte(m.IntN(256))}, pick(m, lengths...))
}

// change changes a part, usually to another valid value.
func (m *mixer) change(o orderChain, sender, spender common.Address, at uint64, db *state.StateDB, parts []argument) {
	address := func() []byte { return wordOf(pick(m, m.accounts...).Big()) }
	gross := new(big.Int).SetBytes(parts[1].word)
	switch n := m.IntN(allParts); n {
	case 0: // give token
		parts[n].word = wordOf(pick(m, o.Tokens...).Address.Big())
		if m.of(3) {
			parts[n].word = pick(m, wordOf(common.Big0), address(), wordOf(o.Contracts["dlnSource"].Big()))
		}
	case 1, 3, 11: // amounts, salt
		parts[n].word = wordOf(m.amount(new(big.Int).SetBytes(parts[n].word)))
	case 4: // take chain
		parts[n].word = wordOf(new(big.Int).SetUint64(pick(m, o.Peers...).ID))
		if m.of(4) {
			parts[n].word = wordOf(m.amount(new(big.Int).SetUint64(pick(m, o.DeBridgeID, o.EVMChainID))))
		}
	case 6:
		parts[n].word = pick(m, address(), wordOf(common.Big0))
	case 2, 5, 7, 8, 10: // addresses of the take chain, and the cancel beneficiary
		parts[n].content = pick(m, address()[12:], address())
		if length := len(parts[5].content); m.of(2) || length > 32 {
			parts[n].content = m.raw(0, 19, 20, 21, 32, 33)
		} else if n != 10 {
			parts[n].content = parts[n].content[len(parts[n].content)-min(length, len(parts[n].content)):]
		}
	case 9: // external call
		parts[n].content = pick(m, m.raw(0, 1, 2, 32, 100), append([]byte{byte(m.IntN(3))}, parts[n].content...), []byte{})
	case affiliatePart:
		share := wordOf(m.amount(new(big.Int).Sub(gross, new(big.Int).Div(gross, big.NewInt(2500)))))
		parts[n].content = append(pick(m, address()[12:], make([]byte, 20)), share...)
		if m.of(5) {
			parts[n].content = m.raw(1, 20, 22, 51, 53, 64, 104)
		}
	case referralPart:
		parts[n].word = wordOf(m.amount(big.NewInt(30)))
	case permitPart:
		parts[n].content = m.permit(o, db, common.BytesToAddress(parts[0].word), sender, spender, gross, at)
	case metadataPart:
		parts[n].content = m.raw(0, 1, 20, 32, 100)
	}
	if word := parts[m.IntN(len(parts))].word; word != nil && m.of(20) {
		word[m.IntN(32)] ^= 0x80 // usually the upper bits
	}
}

// permit returns an envelope that the signer has signed, or an invalid one.
func (m *mixer) permit(o orderChain, db *state.StateDB, token, owner, spender common.Address, amount *big.Int, at uint64) []byte {
	amount, deadline := m.amount(amount), new(big.Int).SetUint64(at+uint64(pick(m, -1, 0, 1, 1000)))
	type_ := crypto.Keccak256([]byte("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"))
	domain, _ := o.call(m.t, db, orderTx{To: token, Data: Token.Pack("DOMAIN_SEPARATOR"), Value: "0"}, at)
	nonce, _ := o.call(m.t, db, orderTx{To: token, Data: Token.Pack("nonces", owner), Value: "0"}, at)
	said := crypto.Keccak256(type_, wordOf(owner.Big()), wordOf(spender.Big()), wordOf(amount), nonce, wordOf(deadline))
	signed := must.Get(crypto.Sign(crypto.Keccak256([]byte{0x19, 1}, domain, said), must.Get(crypto.ToECDSA(mixtureKey))(m.t)))(m.t)
	if signed[64] += pick(m, byte(0), 27); m.of(8) {
		signed[64] = byte(m.IntN(256))
	}
	envelope := slices.Concat(wordOf(amount), wordOf(deadline), signed)
	if m.of(4) {
		return append(envelope, 1, 2, 3, 4)[:pick(m, 0, 1, 31, 63, 64, 65, 96, 97, 128, 130, 133)]
	}
	return envelope
}

// try tries a mixture of a case, in a mixture of its state.
func (m *mixer) try(world worldState, c orderCase) {
	o := m.r.chain(c.Chain)
	if m.of(4) {
		o = pick(m, m.r.Chains...)
	}
	db, tx := world[o.DeBridgeID], c.Tx
	data, swap := c.Tx.Data, []argument(nil)
	if outer, ok := argumentsOf(data); ok && outer[0].tuple == nil {
		swap, data = slices.Clone(outer), outer[9].content
	}
	parts, ok := partsOf(data)
	if !ok {
		return
	}
	db = db.Copy()
	tx.From, tx.To = pick(m, c.Tx.From, m.signer, pick(m, m.accounts...)), o.Contracts["dlnSource"]
	if swap != nil {
		tx.To = o.Contracts["router"]
	}
	parts = cloned(parts)
	n := m.IntN(allParts)
	parts[n] = cloned(pick(m, m.donors...))[n]
	if o.DeBridgeID != c.Chain {
		parts[0].word = wordOf(pick(m, o.Tokens...).Address.Big())
		parts[4].word = wordOf(new(big.Int).SetUint64(pick(m, o.Peers...).ID))
	}
	for range pick(m, 0, 0, 1, 1, 2, 3) {
		m.change(o, tx.From, tx.To, c.Block.Timestamp, db, parts)
	}
	l := pick(m, layouts...)
	tx.Data = m.creation(parts, m.of(2), l)
	token, gross := common.BytesToAddress(parts[0].word), new(big.Int).SetBytes(parts[1].word)
	if swap != nil {
		token, gross = m.swap(o, tx, c.Block.Timestamp, db, swap, parts)
		tx.Data = append(slices.Clone(DeBridgeRouter.ABI.Methods["strictlySwapAndCall"].ID), pick(m, layouts...).encode(swap)...)
	}
	fee := m.arrange(o, db, token, tx, gross)
	value := new(big.Int).Set(fee)
	if token == (common.Address{}) {
		value.Add(value, gross)
	}
	if m.of(8) {
		value = m.amount(value)
	}
	if value.BitLen() > 256 {
		value = fee
	}
	if tx.Value = value.String(); !m.of(20) {
		db.SetBalance(tx.From, uint256.MustFromBig(new(big.Int).Lsh(common.Big1, 255)), 0)
	}
	came, _ := o.compareForecast(m.t, db, c, "mixed for "+strconv.FormatUint(o.DeBridgeID, 10)+" "+tx.Value, tx)
	m.came[came]++
}

// swap mixes the router's part of a call around an order's parts, and returns the token and the amount that it takes.
func (m *mixer) swap(o orderChain, tx orderTx, at uint64, db *state.StateDB, swap, parts []argument) (common.Address, *big.Int) {
	gross := new(big.Int).SetBytes(parts[1].word)
	expected, paid := gross, new(big.Int).Add(gross, big.NewInt(int64(m.IntN(3))))
	if m.of(4) {
		expected = m.amount(gross)
	}
	if m.of(6) {
		paid = m.amount(expected)
	}
	in := pick(m, o.Tokens...).Address
	if m.of(4) {
		in = common.Address{}
	}
	amount := new(big.Int).SetBytes(swap[1].word)
	if m.of(6) {
		amount = m.amount(amount)
	}
	out := common.BytesToAddress(parts[0].word)
	if m.of(10) {
		out = pick(m, o.Tokens...).Address
	}
	taken := amount
	if m.of(8) {
		taken = m.amount(amount)
	}
	swap[0].word, swap[1].word, swap[5].word, swap[6].word = wordOf(in.Big()), wordOf(amount), wordOf(out.Big()), wordOf(expected)
	if in == (common.Address{}) {
		taken = common.Big0
	}
	back := big.NewInt(int64(m.IntN(12) / 11))
	swap[4].content = StandInVenue.Pack("swap", in, taken, out, paid, o.Contracts["router"], back)
	swap[3].word, swap[8].word = wordOf(o.Contracts["venue"].Big()), wordOf(o.Contracts["dlnSource"].Big())
	if m.of(10) {
		swap[pick(m, 3, 8)].word = wordOf(pick(m, o.Contracts["dlnDestination"], o.Contracts["wallet"], o.Contracts["refuser"], o.Contracts["venue"], out).Big())
	}
	if swap[7].word = wordOf(tx.From.Big()); m.of(10) {
		swap[7].word = wordOf(pick(m, o.Contracts["refuser"].Big(), common.Big0))
	}
	if m.of(5) {
		swap[2].content = m.permit(o, db, in, tx.From, tx.To, amount, at)
	}
	swap[9].content = m.creation(parts, m.of(2), pick(m, layouts...))
	return in, amount
}

// arrange mixes the state for the transfer of a token, and returns the fixed fee in that state.
func (m *mixer) arrange(o orderChain, db *state.StateDB, token common.Address, tx orderTx, amount *big.Int) *big.Int {
	fee, bps := bigOf(m.t, o.GlobalFixedNativeFee), o.GlobalTransferFeeBps
	if m.of(6) {
		fee = pick(m, common.Big0, common.Big1, new(big.Int).Sub(new(big.Int).Lsh(common.Big1, 88), common.Big1))
	}
	if m.of(6) {
		bps = pick(m, uint64(0), 1, 9999, 10000, 10001, 65535)
	}
	for slot, word := range DlnSource.NewState().
		Set("globalFixedNativeFee", fee).Set("globalTransferFeeBps", bps).Set("paused", m.of(30)).Slots() {
		db.SetState(o.Contracts["dlnSource"], slot, word)
	}
	if contract := o.tokenAt(token); token != (common.Address{}) && db.GetCodeSize(token) > 0 {
		allowed, held := amount, amount
		if m.of(3) {
			allowed = m.amount(amount)
		}
		if m.of(6) {
			held = m.amount(amount)
		}
		for slot, word := range contract.NewState().Set("allowance", allowed, tx.From, tx.To).Set("balanceOf", held, tx.From).Slots() {
			db.SetState(token, slot, word)
		}
	}
	return fee
}

func cloned(arguments []argument) []argument {
	all := slices.Clone(arguments)
	for i := range all {
		all[i].word, all[i].content = slices.Clone(all[i].word), slices.Clone(all[i].content)
	}
	return all
}
