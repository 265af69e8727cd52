package evm_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
)

// testChain is a made-up chain.
var testChain = chain.Chain{
	ID: 8453, Native: 8453, BlockTime: 2 * time.Second, Finality: 12,
	Contracts: chain.Contracts{
		DlnSource:           chain.NewAddress(repeat(0x51, 20)),
		DlnDestination:      chain.NewAddress(repeat(0xd5, 20)),
		Gate:                chain.NewAddress(repeat(0x6a, 20)),
		ExternalCallAdapter: chain.NewAddress(repeat(0xec, 20)),
		Multicall:           chain.NewAddress(repeat(0x3c, 20)),
	},
}

func repeat(b byte, count int) []byte { return []byte(strings.Repeat(string([]byte{b}), count)) }

// delivery returns an order from another chain to testChain, and its ID.
func delivery() (order.Terms, order.ID) {
	terms := order.Terms{
		Nonce:    7,
		Maker:    chain.NewAddress(repeat(1, 20)),
		Give:     order.Offer{Chain: 137, Token: chain.NewAddress(repeat(2, 20)), Amount: chain.NewAmount(1000)},
		Take:     order.Offer{Chain: testChain.ID, Token: chain.NewAddress(repeat(3, 20)), Amount: chain.NewAmount(990)},
		Receiver: chain.NewAddress(repeat(4, 20)),
	}
	return terms, onchain.ID(terms)
}

const tupleType = "(uint64,bytes,uint256,bytes,uint256,uint256,bytes,uint256,bytes,bytes,bytes,bytes,bytes,bytes)"

// wireTerms is the order tuple as the ABI encoder expects it.
type wireTerms struct {
	MakerOrderNonce             uint64
	MakerSrc                    []byte
	GiveChainID                 *big.Int `abi:"giveChainId"`
	GiveTokenAddress            []byte
	GiveAmount                  *big.Int
	TakeChainID                 *big.Int `abi:"takeChainId"`
	TakeTokenAddress            []byte
	TakeAmount                  *big.Int
	ReceiverDst                 []byte
	GivePatchAuthoritySrc       []byte
	OrderAuthorityAddressDst    []byte
	AllowedTakerDst             []byte
	AllowedCancelBeneficiarySrc []byte
	ExternalCall                []byte
}

func encodeTerms(t order.Terms) wireTerms {
	return wireTerms{
		MakerOrderNonce: t.Nonce, MakerSrc: t.Maker.Bytes(),
		GiveChainID: big.NewInt(int64(t.Give.Chain)), GiveTokenAddress: t.Give.Token.Bytes(), GiveAmount: t.Give.Amount.Big(),
		TakeChainID: big.NewInt(int64(t.Take.Chain)), TakeTokenAddress: t.Take.Token.Bytes(), TakeAmount: t.Take.Amount.Big(),
		ReceiverDst: t.Receiver.Bytes(), ExternalCall: t.ExternalCall,
	}
}

// encode packs values as an event's data; types are as in its signature, the order tuple as "order".
func encode(t *testing.T, types string, values ...any) []byte {
	t.Helper()
	var arguments abi.Arguments
	for name := range strings.SplitSeq(types, ",") {
		var components []abi.ArgumentMarshaling
		if name == "order" {
			name = "tuple"
			for i, component := range strings.Split(strings.Trim(tupleType, "()"), ",") {
				fields := []string{
					"makerOrderNonce", "makerSrc", "giveChainId", "giveTokenAddress", "giveAmount", "takeChainId", "takeTokenAddress", "takeAmount",
					"receiverDst", "givePatchAuthoritySrc", "orderAuthorityAddressDst", "allowedTakerDst", "allowedCancelBeneficiarySrc", "externalCall",
				}
				components = append(components, abi.ArgumentMarshaling{Name: fields[i], Type: component})
			}
		}
		arguments = append(arguments, abi.Argument{Type: must.Get(abi.NewType(name, "", components))(t)})
	}
	return must.Get(arguments.Pack(values...))(t)
}

// fulfilledLog is DlnDestination's event that an order was fulfilled.
func fulfilledLog(t *testing.T, terms order.Terms) eventLog {
	t.Helper()
	taker := [20]byte(repeat(9, 20))
	return eventLog{
		"FulfilledOrder(" + tupleType + ",bytes32,uint256,address,address)", testChain.Contracts.DlnDestination,
		encode(t, "order,bytes32,uint256,address,address", encodeTerms(terms), [32]byte(onchain.ID(terms)), big.NewInt(990), taker, taker),
	}
}

// createdLog is DlnSource's event that an order was created.
func createdLog(t *testing.T, terms order.Terms) eventLog {
	t.Helper()
	return eventLog{
		"CreatedOrder(" + tupleType + ",bytes32,bytes,uint256,uint256,uint32,bytes)", testChain.Contracts.DlnSource,
		encode(t, "order,bytes32,bytes,uint256,uint256,uint32,bytes", encodeTerms(terms), [32]byte(onchain.ID(terms)), []byte{},
			big.NewInt(1), big.NewInt(2), uint32(3), []byte{}),
	}
}

// loweredLog is DlnDestination's event that an order's take amount was lowered to final.
func loweredLog(t *testing.T, id order.ID, final int64) eventLog {
	t.Helper()
	return eventLog{
		"DecreasedTakeAmount(bytes32,uint256)", testChain.Contracts.DlnDestination,
		encode(t, "bytes32,uint256", [32]byte(id), big.NewInt(final)),
	}
}

// paidLog is a token's transfer, unrelated to orders.
func paidLog(token byte) eventLog {
	return eventLog{"Transfer(address,address,uint256)", chain.NewAddress(repeat(token, 20)), repeat(7, 32)}
}

// unlockLog is DlnDestination's event that an order's unlock was sent.
func unlockLog(t *testing.T, id order.ID) eventLog {
	t.Helper()
	return eventLog{
		"SentOrderUnlock(bytes32,bytes,bytes32)", testChain.Contracts.DlnDestination,
		encode(t, "bytes32,bytes,bytes32", [32]byte(id), repeat(9, 20), [32]byte{1}),
	}
}

type eventLog struct {
	signature string
	emitter   chain.Address
	data      []byte
}

// newNode returns a node at block head, with blocks two seconds apart and without orders.
func newNode(head uint64) *node {
	return &node{
		chainID: testChain.Native, head: head, finalized: head - min(head, 20),
		blockTime: func(number uint64) uint64 { return 1_700_000_000 + 2*number },
		receipts:  map[string]json.RawMessage{}, answers: map[string]string{},
		storage: func(string, string, uint64) string { return "0x" },
		patched: func(uint64) uint64 { return 0 },
	}
}

// add puts a transaction with logs into block and returns its hash. If stamped, the logs include their time, as from
// newer nodes.
func (n *node) add(t *testing.T, block uint64, stamped bool, logs ...eventLog) chain.TxHash {
	t.Helper()
	hash := chain.NewTxHash(crypto.Keccak256(fmt.Appendf(nil, "%d %d", block, len(n.receipts))))
	raws := make([]string, len(logs))
	before := 0 // logs of earlier transactions in the block
	for _, l := range n.logs {
		if l.block == block {
			before++
		}
	}
	for i, l := range logs {
		topic := "0x" + hex.EncodeToString(crypto.Keccak256([]byte(l.signature)))
		stamp := ""
		if stamped {
			stamp = fmt.Sprintf(`,"blockTimestamp":"0x%x"`, n.blockTime(block))
		}
		raws[i] = fmt.Sprintf(`{"address":%q,"topics":[%q],"data":"0x%x","blockNumber":"0x%x","blockHash":%q,"transactionHash":%q,"logIndex":"0x%x"%s}`,
			l.emitter, topic, l.data, block, blockHash(block), hash, before+i, stamp)
		n.logs = append(n.logs, newNodeLog(t, json.RawMessage(raws[i])))
	}
	n.receipts[hash.String()] = json.RawMessage(fmt.Sprintf(
		`{"transactionHash":%q,"blockHash":%q,"blockNumber":"0x%x","from":"0x%x","status":"0x1","logsBloom":"0x%0512x","logs":[%s]}`,
		hash, blockHash(block), block, repeat(9, 20), sumOf(logs), strings.Join(raws, ",")))
	return hash
}

// sumOf returns the receipt's filter over logs: three bits, counted from the right, for each address and topic.
func sumOf(logs []eventLog) *big.Int {
	sum := new(big.Int)
	for _, l := range logs {
		for _, part := range [][]byte{l.emitter.Bytes(), crypto.Keccak256([]byte(l.signature))} {
			hash := crypto.Keccak256(part)
			for i := 0; i < 6; i += 2 {
				sum.SetBit(sum, (int(hash[i])<<8|int(hash[i+1]))&2047, 1)
			}
		}
	}
	return sum
}

// keep makes DlnDestination's storage show a delivery in block fulfilled and, unless zero, an unlock sent in block
// sent.
func (n *node) keep(fulfilled, sent uint64) {
	n.storage = func(to, _ string, block uint64) string {
		if to != testChain.Contracts.DlnDestination.String() {
			return "0x"
		}
		status := 0
		switch {
		case sent != 0 && block >= sent:
			status = 2
		case block >= fulfilled:
			status = 1
		}
		return fmt.Sprintf("0x%064x%064x%064x%064x", status, 0, 137, 0)
	}
}

// ledger is a recorded chain, on which real contracts went through orders of every kind.
type ledger struct {
	ChainID    uint64
	DeBridgeID chain.ID
	Contracts  struct{ DlnSource, DlnDestination, Gate, Multicall3, ExternalCallAdapter chain.Address }
	Head       uint64
	Finalized  uint64
	Blocks     []struct {
		Hash, Timestamp string
	}
	Receipts, Transactions map[string]json.RawMessage
	Calls                  []struct {
		To, Data string
		Block    any
		Result   string
		Error    any
	}
	CallDefaults []struct{ To, Selector, Result string }

	logs []nodeLog // from the receipts
}

func (l ledger) node() *node {
	n := &node{
		logs: l.logs, chainID: l.ChainID, head: l.Head, finalized: l.Finalized, receipts: l.Receipts, transactions: l.Transactions, storage: l.read,
		numbers:   make(map[string]uint64),
		blockTime: func(number uint64) uint64 { return parseQuantity(l.Blocks[number].Timestamp) },
	}
	for number, block := range l.Blocks {
		n.numbers[block.Hash] = uint64(number)
	}
	return n
}

// readLogs returns the logs of the receipts.
func (l ledger) readLogs(t *testing.T) (logs []nodeLog) {
	t.Helper()
	for _, raw := range l.Receipts {
		var receipt struct{ Logs []json.RawMessage }
		must.Do(t, json.Unmarshal(raw, &receipt))
		for _, raw := range receipt.Logs {
			logs = append(logs, newNodeLog(t, raw))
		}
	}
	sortLogs(logs)
	return logs
}

func newNodeLog(t *testing.T, raw json.RawMessage) nodeLog {
	t.Helper()
	var l struct {
		Address, BlockNumber, LogIndex string
		Topics                         []string
	}
	must.Do(t, json.Unmarshal(raw, &l))
	var topic string
	if len(l.Topics) > 0 {
		topic = l.Topics[0]
	}
	return nodeLog{
		block: parseQuantity(l.BlockNumber), index: parseQuantity(l.LogIndex), address: l.Address, topic: topic, raw: raw,
	}
}

func sortLogs(logs []nodeLog) {
	slices.SortFunc(logs, func(a, b nodeLog) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.index, b.index))
	})
}

// read answers a call as the recorded contracts did at block.
func (l ledger) read(to, data string, block uint64) string {
	answer := ""
	for _, c := range l.Calls {
		at, numbered := c.Block.(float64)
		if strings.EqualFold(c.To, to) && c.Data == data && (!numbered || uint64(at) <= block) {
			answer = c.Result
			if c.Error != nil {
				answer = "!execution reverted"
			}
		}
	}
	for _, c := range l.CallDefaults {
		if answer == "" && strings.EqualFold(c.To, to) && strings.HasPrefix(data, c.Selector) {
			answer = c.Result
		}
	}
	return cmp.Or(answer, "!execution reverted")
}
