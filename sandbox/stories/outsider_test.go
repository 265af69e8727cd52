package stories_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"crossgate/sandbox/contracts"
)

// An outsider reads the sandbox's chains with go-ethereum's client and the contracts' ABIs, Solana with a
// decoder of its own, and writes the records that they call for. It shares no code with the gateway, so
// that a misreading on one side shows.
type outsider struct {
	t      *testing.T
	chains map[uint64]*outsiderChain
	solana *outsiderSolana
	orders map[common.Hash]*told
}

type outsiderChain struct {
	id      uint64
	client  *ethclient.Client
	headers map[uint64]*types.Header
	senders map[common.Hash]common.Address
	tokens  map[common.Address]map[string]any
	// What the world says of the chain's contracts.
	source, destination, gate, adapter common.Address
	coinDecimals                       int
}

// told is everything that the chains told about one order, in the JSON of the record.
type told struct {
	created *tuple
	tx      string // that created it, and where in there
	index   uint
	record  map[string]any

	fulfilled, sent, claimed    bool
	marked, cancelled, refunded bool
	call                        string // how its external call went
}

// tuple is the order as every event carries it.
type tuple struct {
	MakerOrderNonce             uint64
	MakerSrc                    []byte
	GiveChainId                 *big.Int //nolint:revive // the ABI's spelling
	GiveTokenAddress            []byte
	GiveAmount                  *big.Int
	TakeChainId                 *big.Int //nolint:revive // the ABI's spelling
	TakeTokenAddress            []byte
	TakeAmount                  *big.Int
	ReceiverDst                 []byte
	GivePatchAuthoritySrc       []byte
	OrderAuthorityAddressDst    []byte
	AllowedTakerDst             []byte
	AllowedCancelBeneficiarySrc []byte
	ExternalCall                []byte
}

const (
	solanaID = 7565164
	tronID   = 100000026
)

func newOutsider(t *testing.T, w worldJSON) *outsider {
	t.Helper()
	o := &outsider{t: t, chains: map[uint64]*outsiderChain{}, orders: map[common.Hash]*told{}}
	for _, c := range w.Chains {
		if c.ID == solanaID {
			o.solana = dialSolana(t, c.RPC, c.DlnSource, c.DlnDestination, c.Gate, c.Coin.Decimals)
			continue
		}
		client, err := ethclient.Dial(c.EVMRPC)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		o.chains[c.ID] = &outsiderChain{
			id: c.ID, client: client, headers: map[uint64]*types.Header{},
			senders: map[common.Hash]common.Address{}, tokens: map[common.Address]map[string]any{},
			source: addressOf(t, c.DlnSource), destination: addressOf(t, c.DlnDestination),
			gate: addressOf(t, c.Gate), adapter: addressOf(t, c.ExternalCallAdapter), coinDecimals: c.Coin.Decimals,
		}
	}
	for _, c := range o.chains {
		o.readCreations(c)
	}
	o.readCreationsOnSolana()
	for _, c := range o.chains {
		o.readSwaps(c)
		o.readTheRest(c)
	}
	o.readTheRestOnSolana()
	for _, told := range o.orders {
		o.conclude(told)
	}
	return o
}

// logs returns every log of a contract with the values its ABI gives it.
func (o *outsider) logs(c *outsiderChain, address common.Address, contract *contracts.Contract) []unpacked {
	o.t.Helper()
	logs, err := c.client.FilterLogs(context.Background(), ethereum.FilterQuery{
		FromBlock: big.NewInt(0), Addresses: []common.Address{address},
	})
	if err != nil {
		o.t.Fatal(err)
	}
	var out []unpacked
	for _, log := range logs {
		event, err := contract.ABI.EventByID(log.Topics[0])
		if err != nil {
			o.t.Fatalf("%s has a log that its ABI does not know: %v", contract.Name, err)
		}
		values := map[string]any{}
		if err := contract.ABI.UnpackIntoMap(values, event.Name, log.Data); err != nil {
			o.t.Fatal(err)
		}
		out = append(out, unpacked{log, event.RawName, values})
	}
	return out
}

type unpacked struct {
	log    types.Log
	event  string
	values map[string]any
}

func (u unpacked) hash(name string) common.Hash {
	raw, _ := u.values[name].([32]byte)
	return raw
}

func (u unpacked) big(name string) *big.Int {
	n, _ := u.values[name].(*big.Int)
	return n
}

func (u unpacked) bytes(name string) []byte {
	raw, _ := u.values[name].([]byte)
	return raw
}

func (u unpacked) order() *tuple {
	var out tuple
	from := reflect.ValueOf(u.values["order"])
	into := reflect.ValueOf(&out).Elem()
	for i := range into.NumField() {
		into.Field(i).Set(from.FieldByName(into.Type().Field(i).Name))
	}
	return &out
}

func (o *outsider) readCreations(c *outsiderChain) {
	for _, u := range o.logs(c, c.source, contracts.DlnSource) {
		if u.event != "CreatedOrder" {
			continue
		}
		o.create(u.order(), u.hash("orderId"), u.log.TxHash.Hex(), u.log.Index, map[string]any{
			"percentFee":              numberJSON(u.big("percentFee")),
			"finalPercentFee":         numberJSON(u.big("percentFee")),
			"fixFee":                  numberJSON(u.big("nativeFixFee")),
			"referralCode":            json.Number(fmt.Sprint(u.values["referralCode"])),
			"affiliateFee":            affiliateJSON(u.bytes("affiliateFee"), c.id),
			"orderMetadata":           metadataJSON(u.bytes("metadata")),
			"createdSrcEventMetadata": o.eventJSON(c, u.log),
		})
	}
}

// create begins an order's record, to which nothing has happened yet.
func (o *outsider) create(order *tuple, id common.Hash, tx string, index uint, record map[string]any) {
	maps.Copy(record, map[string]any{
		"orderId":               hashJSON(id.Bytes()),
		"giveOfferWithMetadata": o.offerJSON(order.GiveChainId, order.GiveTokenAddress, order.GiveAmount),
		"takeOfferWithMetadata": o.offerJSON(order.TakeChainId, order.TakeTokenAddress, order.TakeAmount),
		"taker":                 addressJSON(nil, 0),
		"unlockAuthorityDst":    addressJSON(nil, 0),
		"actualFulfillAmount":   nil,
		"unlockBeneficiarySrc":  nil, "cancelBeneficiarySrc": nil,
		"fulfilledDstEventMetadata": nil, "orderCancelledDstEventMetadata": nil,
		"sentUnlockDstEventInfo": infoJSON(nil, nil), "claimedUnlockSrcEventInfo": infoJSON(nil, nil),
		"sentOrderCancelDstEventInfo": infoJSON(nil, nil), "claimedOrderCancelSrcEventInfo": infoJSON(nil, nil),
		"preswapData": nil,
	})
	o.orders[id] = &told{created: order, tx: tx, index: index, record: record}
}

// router is where the protocol's router stands on every chain of the sandbox.
var router = common.HexToAddress("0x663DC15D3C1aC63ff12E45Ab68FeA3F0a883C251")

// readSwaps finds the swaps into the give token that came before a creation in its transaction.
func (o *outsider) readSwaps(c *outsiderChain) {
	for _, u := range o.logs(c, router, contracts.DeBridgeRouter) {
		told := o.firstIn(u.log.TxHash.Hex())
		if u.event != "SwapExecuted" || told == nil {
			continue
		}
		in, out := u.values["tokenIn"].(common.Address).Bytes(), u.values["tokenOut"].(common.Address).Bytes()
		if told.index < u.log.Index || !bytes.Equal(out, told.created.GiveTokenAddress) {
			continue
		}
		tokenIn, tokenOut := o.tokenJSON(c.id, in), o.tokenJSON(c.id, out)
		told.record["preswapData"] = map[string]any{
			"chainId":        numberJSON(told.created.GiveChainId),
			"inTokenAddress": addressJSON(in, c.id), "inAmount": numberJSON(u.big("amountIn")),
			"tokenInMetadata": tokenIn, "tokenInLogoURI": tokenIn["logoURI"],
			"outTokenAddress": addressJSON(out, c.id), "outAmount": numberJSON(u.big("amountOut")),
			"tokenOutMetadata": tokenOut, "tokenOutLogoURI": tokenOut["logoURI"],
		}
	}
}

func (o *outsider) readTheRest(c *outsiderChain) {
	gate := o.logs(c, c.gate, contracts.DeBridgeGate)
	for _, u := range o.logs(c, c.source, contracts.DlnSource) {
		told := o.orders[u.hash("orderId")]
		switch u.event {
		case "IncreasedGiveAmount":
			told.raise(u.big("orderGiveFinalAmount"), u.big("finalPercentFee"))
		case "ClaimedUnlock":
			told.claimed = true
			told.record["claimedUnlockSrcEventInfo"] = infoJSON(o.eventJSON(c, u.log), claimOf(gate, u.log))
		case "ClaimedOrderCancel":
			told.refunded = true
			told.record["claimedOrderCancelSrcEventInfo"] = infoJSON(o.eventJSON(c, u.log), claimOf(gate, u.log))
		}
	}
	for _, u := range o.logs(c, c.destination, contracts.DlnDestination) {
		told := o.orders[u.hash("orderId")]
		if told == nil {
			continue
		}
		switch u.event {
		case "FulfilledOrder":
			told.fulfilled = true
			told.record["fulfilledDstEventMetadata"] = o.eventJSON(c, u.log)
			told.record["taker"] = addressJSON(u.values["sender"].(common.Address).Bytes(), c.id)
			told.record["unlockAuthorityDst"] = addressJSON(u.values["unlockAuthority"].(common.Address).Bytes(), c.id)
			if actual := u.big("actualFulfillAmount"); actual != nil {
				told.record["actualFulfillAmount"] = numberJSON(actual)
			}
		case "DecreasedTakeAmount":
			told.lower(u.big("orderTakeFinalAmount"))
		case "SentOrderUnlock":
			told.sent = true
			told.record["unlockBeneficiarySrc"] = addressJSON(u.bytes("beneficiary"), told.created.GiveChainId.Uint64())
			told.record["sentUnlockDstEventInfo"] = infoJSON(o.eventJSON(c, u.log), u.hash("submissionId").Bytes())
		case "SentOrderCancel":
			told.cancelled = true
			told.record["cancelBeneficiarySrc"] = addressJSON(u.bytes("cancelBeneficiary"), told.created.GiveChainId.Uint64())
			told.record["sentOrderCancelDstEventInfo"] = infoJSON(o.eventJSON(c, u.log), u.hash("submissionId").Bytes())
			told.record["orderCancelledDstEventMetadata"] = o.eventJSON(c, u.log)
		}
	}
	for _, u := range o.logs(c, c.adapter, contracts.ExternalCallAdapter) {
		if told := o.orders[u.hash("orderId")]; told != nil {
			told.see(u)
		}
	}
}

// raise makes the order give more, which the fee follows.
func (t *told) raise(final, percentFee *big.Int) {
	t.record["giveOfferWithMetadata"].(map[string]any)["finalAmount"] = numberJSON(final)
	t.record["finalPercentFee"] = numberJSON(percentFee)
}

// lower makes the order ask for less.
func (t *told) lower(final *big.Int) {
	t.record["takeOfferWithMetadata"].(map[string]any)["finalAmount"] = numberJSON(final)
}

func (t *told) see(u unpacked) {
	switch u.event {
	case "ExternalCallExecuted":
		t.call = "Completed"
		if succeeded, _ := u.values["callSucceeded"].(bool); !succeeded {
			t.call = "Failed"
		}
	case "ExternalCallFailed":
		t.call = "Failed"
	case "ExternalCallCancelled":
		t.call = "Cancelled"
	}
}

// firstIn returns the first order that a transaction created.
func (o *outsider) firstIn(tx string) *told {
	var first *told
	for _, each := range o.orders {
		if each.tx == tx && (first == nil || each.index < first.index) {
			first = each
		}
	}
	return first
}

// indexOf counts the orders that the same transaction created before.
func (o *outsider) indexOf(one *told) int {
	before := 0
	for _, each := range o.orders {
		if each.tx == one.tx && each.index < one.index {
			before++
		}
	}
	return before
}

// claimOf returns the submission of the gate's next Claimed log in the same transaction.
func claimOf(gate []unpacked, claim types.Log) []byte {
	for _, u := range gate {
		if u.event == "Claimed" && u.log.TxHash == claim.TxHash && u.log.Index > claim.Index {
			return u.hash("submissionId").Bytes()
		}
	}
	return nil
}

func (o *outsider) conclude(t *told) {
	order := t.created
	give, take := order.GiveChainId.Uint64(), order.TakeChainId.Uint64()
	t.record["makerOrderNonce"] = json.Number(fmt.Sprint(order.MakerOrderNonce))
	t.record["makerSrc"] = addressJSON(order.MakerSrc, give)
	t.record["receiverDst"] = addressJSON(order.ReceiverDst, take)
	t.record["givePatchAuthoritySrc"] = addressJSON(order.GivePatchAuthoritySrc, give)
	t.record["orderAuthorityAddressDst"] = addressJSON(order.OrderAuthorityAddressDst, take)
	t.record["allowedTakerDst"] = addressJSON(order.AllowedTakerDst, take)
	t.record["allowedCancelBeneficiarySrc"] = addressJSON(order.AllowedCancelBeneficiarySrc, give)
	t.record["externalCallData"] = nil
	if len(order.ExternalCall) > 0 {
		t.record["externalCallData"] = "0x" + hex.EncodeToString(order.ExternalCall)
	}
	state := "Created"
	for _, step := range []struct {
		seen bool
		name string
	}{
		{t.fulfilled, "Fulfilled"},
		{t.sent, "SentUnlock"},
		{t.marked, "OrderCancelled"},
		{t.cancelled, "SentOrderCancel"},
		{t.claimed, "ClaimedUnlock"},
		{t.refunded, "ClaimedOrderCancel"},
	} {
		if step.seen {
			state = step.name
		}
	}
	t.record["state"] = state
	switch {
	case len(order.ExternalCall) == 0:
		t.record["externalCallState"] = "NoExtCall"
	case t.marked || t.cancelled:
		t.record["externalCallState"] = "OrderCancelled"
	case t.call != "":
		t.record["externalCallState"] = t.call
	case t.fulfilled:
		t.record["externalCallState"] = "AwaitingExecution"
	default:
		t.record["externalCallState"] = "AwaitingOrderFulfillment"
	}
}
