package query

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/onchain"
)

// The golden ledgers were written by the protocol's own contracts; what every order must become was read
// from them by an independent decoder. They stand beside the repository on some machines.
const golden = "../../../shared/golden/ledgers-A"

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	file := filepath.Join(golden, name)
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s is not there: the recorded material lies in a folder named shared beside the checkout of this repository", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// quantity is a number that a node writes as 0x hex.
type quantity uint64

func (q *quantity) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(strings.TrimPrefix(string(text), "0x"), 16, 64)
	*q = quantity(n)
	return err
}

// payload is a byte string that a node writes as 0x hex.
type payload []byte

func (p *payload) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	*p = raw
	return err
}

type goldenLedger struct {
	DeBridgeID chain.ID
	Contracts  struct{ DlnSource, DlnDestination, Gate, ExternalCallAdapter chain.Address }
	Head       uint64
	Finalized  uint64
	Blocks     []struct {
		Number, Timestamp quantity
		Hash, ParentHash  chain.Hash
		Transactions      []chain.TxHash
	}
	Receipts map[string]struct {
		From chain.Address
		Logs []struct {
			Address  chain.Address
			Topics   []chain.Hash
			Data     payload
			LogIndex quantity
		}
	}
}

// replay makes a chain of a golden ledger.
func (g *goldenLedger) replay(t *testing.T) *testChain {
	t.Helper()
	l := &testChain{id: g.DeBridgeID, finality: g.Head - g.Finalized, asked: map[string]int{}}
	for _, b := range g.Blocks {
		s := sealed{
			Block: order.Block{Number: uint64(b.Number), Hash: b.Hash, Parent: b.ParentHash, Time: uint64(b.Timestamp)},
			txs:   b.Transactions,
		}
		for _, tx := range b.Transactions {
			s.events = append(s.events, g.events(t, s.Block, tx)...)
		}
		for uint64(len(l.blocks)) < s.Number { // the ledger leaves out blocks before its first
			l.blocks = append(l.blocks, sealed{Block: order.Block{Number: uint64(len(l.blocks))}})
		}
		l.blocks = append(l.blocks, s)
	}
	return l
}

func (g *goldenLedger) events(t *testing.T, b order.Block, tx chain.TxHash) []order.Event {
	t.Helper()
	receipt := g.Receipts[tx.String()]
	var logs []onchain.Log
	for _, l := range receipt.Logs {
		logs = append(logs, onchain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data, Index: uint(l.LogIndex)})
	}
	found, err := onchain.Decode(chain.Contracts{
		DlnSource: g.Contracts.DlnSource, DlnDestination: g.Contracts.DlnDestination,
		Gate: g.Contracts.Gate, ExternalCallAdapter: g.Contracts.ExternalCallAdapter,
	}, logs)
	if err != nil {
		t.Fatalf("chain %d, transaction %s: %v", g.DeBridgeID, tx, err)
	}
	var events []order.Event
	for _, f := range found {
		events = append(events, order.Event{Order: f.Order, Fact: f.Fact, At: order.At{
			Chain: g.DeBridgeID, Tx: tx, Block: b.Number, BlockHash: b.Hash, Time: b.Time,
			Initiator: receipt.From, LogIndex: f.LogIndex,
		}})
	}
	return events
}

func goldenSources(t *testing.T) map[chain.ID]order.Source {
	t.Helper()
	sources := map[chain.ID]order.Source{}
	for _, native := range []int{1, 137, 8453, 146} {
		var g goldenLedger
		readGolden(t, fmt.Sprintf("ledger-A-%d.json", native), &g)
		sources[g.DeBridgeID] = g.replay(t)
	}
	return sources
}

// record is what an order must become, in the specification's names.
type record struct {
	State                       string
	ExternalCallState           string
	ReferralCode                uint32
	FinalPercentFee, FixFee     string
	GiveOfferWithMetadata       struct{ FinalAmount string }
	TakeOfferWithMetadata       struct{ FinalAmount string }
	Taker, UnlockAuthorityDst   chain.Address
	UnlockBeneficiarySrc        chain.Address
	CancelBeneficiarySrc        chain.Address
	CreatedSrcEventMetadata     *eventRecord
	FulfilledDstEventMetadata   *eventRecord
	SentUnlockDstEventInfo      messageRecord
	ClaimedUnlockSrcEventInfo   messageRecord
	SentOrderCancelDstEventInfo messageRecord
	ClaimedOrderCancelSrcInfo   messageRecord `json:"claimedOrderCancelSrcEventInfo"`
	AffiliateFee                *struct {
		BeneficiarySrc chain.Address
		Amount         string
	}
}

type eventRecord struct {
	TransactionHash chain.TxHash
	BlockNumber     uint64
	BlockHash       chain.Hash
	BlockTimeStamp  uint64
	Initiator       chain.Address
}

type messageRecord struct {
	TransactionMetadata *eventRecord
	SubmissionID        *chain.Hash `json:"submissionId"`
}

// recordOf says an order in the record's terms.
func recordOf(o *order.Order) record {
	r := record{
		State: o.State.String(), ExternalCallState: o.Call.String(),
		FinalPercentFee:             o.FinalPercentFee.String(),
		FixFee:                      o.Created.Fact.FixFee.String(),
		ReferralCode:                o.Created.Fact.ReferralCode,
		CreatedSrcEventMetadata:     eventOf(o.Created),
		FulfilledDstEventMetadata:   eventOf(o.Fulfilled),
		SentUnlockDstEventInfo:      messageRecord{TransactionMetadata: eventOf(o.SentUnlock)},
		ClaimedUnlockSrcEventInfo:   messageRecord{TransactionMetadata: eventOf(o.ClaimedUnlock)},
		SentOrderCancelDstEventInfo: messageRecord{TransactionMetadata: eventOf(o.SentCancel)},
		ClaimedOrderCancelSrcInfo:   messageRecord{TransactionMetadata: eventOf(o.ClaimedCancel)},
	}
	r.GiveOfferWithMetadata.FinalAmount = o.GiveFinal.String()
	r.TakeOfferWithMetadata.FinalAmount = o.TakeFinal.String()
	if o.Fulfilled != nil {
		r.Taker, r.UnlockAuthorityDst = o.Fulfilled.Fact.Taker, o.Fulfilled.Fact.UnlockAuthority
	}
	if o.SentUnlock != nil {
		r.UnlockBeneficiarySrc = o.SentUnlock.Fact.Beneficiary
		r.SentUnlockDstEventInfo.SubmissionID = &o.SentUnlock.Fact.Submission
	}
	if o.SentCancel != nil {
		r.CancelBeneficiarySrc = o.SentCancel.Fact.Beneficiary
		r.SentOrderCancelDstEventInfo.SubmissionID = &o.SentCancel.Fact.Submission
	}
	if o.ClaimedUnlock != nil {
		r.ClaimedUnlockSrcEventInfo.SubmissionID = &o.ClaimedUnlock.Fact.Submission
	}
	if o.ClaimedCancel != nil {
		r.ClaimedOrderCancelSrcInfo.SubmissionID = &o.ClaimedCancel.Fact.Submission
	}
	if fee := o.Created.Fact.Affiliate; fee != nil {
		r.AffiliateFee = &struct {
			BeneficiarySrc chain.Address
			Amount         string
		}{fee.Beneficiary, fee.Amount.String()}
	}
	return r
}

func eventOf[F order.Fact](seen *order.Seen[F]) *eventRecord {
	if seen == nil {
		return nil
	}
	return &eventRecord{seen.At.Tx, seen.At.Block, seen.At.BlockHash, seen.At.Time, seen.At.Initiator}
}

// TestGoldenOrders finds every order of the golden ledgers twice: traced, and followed.
func TestGoldenOrders(t *testing.T) {
	var expected struct {
		Orders []struct {
			OrderID        order.ID
			CreationTxHash chain.TxHash
			IndexInTx      int
			OrdersInTx     int
			Record         record
		}
	}
	readGolden(t, "expected-A.json", &expected)
	for _, followed := range []bool{false, true} {
		x := newIndex(openStore(t), goldenSources(t), quietly(follow.Options{Chains: chain.Documented()}))
		if followed {
			followAll(t, x)
		}
		for _, want := range expected.Orders {
			found, _, err := x.Find(t.Context(), want.CreationTxHash)
			if err != nil || len(found) != want.OrdersInTx || found[want.IndexInTx].ID != want.OrderID {
				t.Errorf("followed %v: Find(%s) = %v, %v, want order %s", followed, want.CreationTxHash, found, err, want.OrderID)
				continue
			}
			if diff := cmp.Diff(want.Record, recordOf(found[want.IndexInTx].Order), compare); diff != "" {
				t.Errorf("followed %v: order %s (-want +got):\n%s", followed, want.OrderID, diff)
			}
		}
	}
}

// goldenLocked is what is locked on one give chain.
type goldenLocked struct {
	ChainID      chain.ID
	LockedTokens []struct {
		TokenAddress chain.Address
		Amount       chain.Amount
		DstChains    []struct {
			TargetChainID chain.ID
			Amount        chain.Amount
			Orders        []struct{ OrderID order.ID }
		}
	}
}

func (g goldenLocked) locked() order.LockedChain {
	c := order.LockedChain{Chain: g.ChainID}
	for _, token := range g.LockedTokens {
		t := order.LockedToken{Token: token.TokenAddress, Amount: token.Amount}
		for _, target := range token.DstChains {
			d := order.LockedTarget{Chain: target.TargetChainID, Amount: target.Amount}
			for _, o := range target.Orders {
				d.Orders = append(d.Orders, o.OrderID)
			}
			slices.SortFunc(d.Orders, ledger.CompareIDs)
			t.Targets = append(t.Targets, d)
		}
		c.Tokens = append(c.Tokens, t)
	}
	return c
}

// TestGoldenLocked compares what is locked for every taker of the golden ledgers.
func TestGoldenLocked(t *testing.T) {
	var expected struct {
		Locked []struct {
			Taker  chain.Address
			Chains []goldenLocked
		}
	}
	readGolden(t, "expected-A.json", &expected)
	x := newIndex(openStore(t), goldenSources(t), quietly(follow.Options{Chains: chain.Documented()}))
	followAll(t, x)
	for _, e := range expected.Locked {
		var want []order.LockedChain
		for _, c := range e.Chains {
			want = append(want, c.locked())
		}
		got, _, err := x.Locked(t.Context(), e.Taker)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, compare); diff != "" {
			t.Errorf("locked for %s (-want +got):\n%s", e.Taker, diff)
		}
	}
}
