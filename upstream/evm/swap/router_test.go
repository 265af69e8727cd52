package swap

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// routerVector is a call of the real router, with its outcome.
type routerVector struct {
	ID   string
	Call struct {
		Args struct {
			TokenIn, AmountIn, TokenInPermitEnvelope string
			SwapDetails                              struct {
				AllowanceAggregator, SwapRouter, SwapCalldata, TokenOut, TokenOutMinAmount string
				SurplusShareBps                                                            uint16
				AffiliateFeeEnvelope, Recipient                                            string
			}
			ReferralCode uint32
		}
	}
	Tx     struct{ From, To, Data, Value string }
	Result struct {
		Status, RevertData string
		Error              *revertVector
	}
}

type revertVector struct {
	Name  string
	Args  map[string]any
	Inner *revertVector
}

// eachVectors runs a test with an excerpt of the recording, and with all of it.
func eachVectors(t *testing.T, test func(t *testing.T, vectors []routerVector, reverts map[string]string)) {
	t.Run("excerpt", func(t *testing.T) { readVectors(t, must.Get(os.ReadFile("testdata/router.json"))(t), test) })
	t.Run("whole", func(t *testing.T) { readVectors(t, recorded.File(t, "golden/router/router-vectors-A.json"), test) })
}

func readVectors(t *testing.T, text []byte, test func(t *testing.T, vectors []routerVector, reverts map[string]string)) {
	t.Helper()
	var recording struct {
		Errors []struct{ Signature, Selector string }
		Chains []struct{ Vectors []routerVector }
	}
	must.Do(t, json.Unmarshal(text, &recording))
	var vectors []routerVector
	for _, c := range recording.Chains {
		vectors = append(vectors, c.Vectors...)
	}
	reverts := map[string]string{}
	for _, e := range recording.Errors {
		name, _, _ := strings.Cut(e.Signature, "(")
		reverts[e.Selector] = name
	}
	test(t, vectors, reverts)
}

func TestRouterCalldataIsThatOfTheRealCalls(t *testing.T) {
	eachVectors(t, func(t *testing.T, vectors []routerVector, _ map[string]string) {
		for _, v := range vectors {
			checkCalldata(t, v)
		}
		t.Logf("%d calls", len(vectors))
	})
}

func checkCalldata(t *testing.T, v routerVector) {
	t.Helper()
	args, details := v.Call.Args, v.Call.Args.SwapDetails
	r := NewRouter(evm.New(chain.Chain{Contracts: chain.Contracts{Router: hexAddress(v.Tx.To)}}, jsonrpc.New(upstream.NewPool("chain"))))
	tx := r.Wrap(quote.RouterSwap{
		TokenIn: hexAddress(args.TokenIn), AmountIn: decimalAmount(t, args.AmountIn), Permit: common.FromHex(args.TokenInPermitEnvelope),
		Spender: hexAddress(details.AllowanceAggregator), VenueRouter: hexAddress(details.SwapRouter),
		VenueData: common.FromHex(details.SwapCalldata), TokenOut: hexAddress(details.TokenOut),
		MinOut: decimalAmount(t, details.TokenOutMinAmount), SurplusShareBps: details.SurplusShareBps,
		AffiliateFee: common.FromHex(details.AffiliateFeeEnvelope), Recipient: hexAddress(details.Recipient),
		ReferralCode: args.ReferralCode,
	})
	if got := "0x" + hex.EncodeToString(tx.Data); got != v.Tx.Data {
		t.Errorf("%s: calldata = %s, want %s", v.ID, got, v.Tx.Data)
	}
	if tx.To != hexAddress(v.Tx.To) {
		t.Errorf("%s: to = %s, want %s", v.ID, tx.To, v.Tx.To)
	}
	// Calls that are meant to fail carry a wrong value on purpose.
	if v.Result.Status == "success" && tx.Value != decimalAmount(t, v.Tx.Value) {
		t.Errorf("%s: value = %s, want %s", v.ID, tx.Value, v.Tx.Value)
	}
}

func TestRevertsHaveTheirNames(t *testing.T) {
	eachVectors(t, func(t *testing.T, vectors []routerVector, names map[string]string) {
		named := 0
		for _, v := range vectors {
			if v.Result.Status == "revert" {
				named++
				checkRevert(t, v.ID, explainRevert(common.FromHex(v.Result.RevertData)), v.Result.Error)
			}
		}
		for id, want := range names {
			known, found := knownErrors[[4]byte(common.FromHex(id))]
			if !found || known.Name != want {
				t.Errorf("error %s is %q here, want %s", id, known.Name, want)
			}
		}
		t.Logf("%d reverts and %d errors", named, len(names))
	})
}

// checkRevert checks the error's name and every argument; for a require or a panic only the text.
func checkRevert(t *testing.T, id, got string, want *revertVector) {
	t.Helper()
	name := want.Name
	if name == "Error" {
		name = ""
	}
	if !strings.HasPrefix(got, name) {
		t.Errorf("%s: reason = %q, want %s", id, got, want.Name)
	}
	for argument, value := range want.Args {
		text := strings.ToLower(fmt.Sprint(value))
		if argument == "data" || want.Name == "Panic" {
			continue
		}
		if !strings.Contains(strings.ToLower(got), text) {
			t.Errorf("%s: reason = %q, want %s %s in it", id, got, argument, text)
		}
	}
	if want.Inner != nil {
		checkRevert(t, id, got[strings.Index(got, "data ")+len("data "):], want.Inner)
	}
}

// TestRevertsOfVenuesHaveTheirNames uses selectors as explorers show them.
func TestRevertsOfVenuesHaveTheirNames(t *testing.T) {
	for id, want := range map[string]string{
		"0x39d35496": "V3TooLittleReceived", "0x849eaf98": "V2TooLittleReceived", "0x5bf6f916": "TransactionDeadlinePassed",
		"0x2c4029e9": "ExecutionFailed", "0x675cae38": "InsufficientToken", "0x7939f424": "TransferFromFailed", "0xf4059071": "SafeTransferFromFailed",
		"0xd81b2f2e": "AllowanceExpired", "0x064a4ec6": "ReturnAmountIsNotEnough", "0x97a6f3b9": "TooMuchSlippage",
		"0x1425ea42": "FailedInnerCall", "0xd6bda275": "FailedCall", "0x5274afe7": "SafeERC20FailedOperation", "0x9996b315": "AddressEmptyCode",
	} {
		if got := explainRevert(common.FromHex(id)); got != want+"()" {
			t.Errorf("error %s = %q, want %s", id, got, want)
		}
	}
}

func TestUnknownRevertsShowTheirSelector(t *testing.T) {
	for _, row := range []struct{ data, want string }{
		{"", "no reason given"},
		{"0x01", "no reason given"},
		{"0xdeadbeef00", "error 0xdeadbeef"},
		{"0xc0159a61", "NotEnoughSrcFundsIn()"}, // its arguments are missing
	} {
		if got := explainRevert(common.FromHex(row.data)); got != row.want {
			t.Errorf("explainRevert(%s) = %q, want %q", row.data, got, row.want)
		}
	}
}

// routerNode answers like the public router; with an empty fee there is no router.
type routerNode struct {
	node
	fee       string // of swapVariableFeeBps
	unsigned  bool   // has no version
	supported map[string]string
}

func (n *routerNode) answer(_, data string) string {
	switch {
	case n.fee == "", n.unsigned && data[:10] == "0x54fd4d50":
		return "0x"
	case data[:10] == "0x54fd4d50":
		return "0x" + fmt.Sprintf("%064x", 320)
	case data[:10] == "0xedc8fef6":
		return n.fee
	}
	return cmp.Or(n.supported["0x"+data[len(data)-40:]], nothingWord)
}

func (n *routerNode) serve(t *testing.T) *Router {
	t.Helper()
	n.contract = n.answer
	return NewRouter(n.node.serve(t, documented(t, chain.Ethereum)))
}

const (
	listedVenue = "0x6131b5fae19ea4f9d964eac0408e4408b66337b5"
	oldWord     = "0x0000000000000000000000000000000000000000000000000000000000000001" // of routers before the aggregators
	newWord     = oldWord + "0000000000000000000000000000000000000000000000000000000000000000"
	nothingWord = "0x0000000000000000000000000000000000000000000000000000000000000000"
)

func TestRouterTermsAreRememberedAndAskedAnew(t *testing.T) {
	n := &routerNode{fee: "0x" + fmt.Sprintf("%064x", 8), supported: map[string]string{listedVenue: newWord, velora: oldWord, stranger: nothingWord}}
	r := n.serve(t)
	now := time.Now()
	r.now = func() time.Time { return now }
	listed, old, other := hexAddress(listedVenue), hexAddress(velora), hexAddress(stranger)
	check := func(what string, wantFee, wantQuestions int) {
		t.Helper()
		terms, err := r.Terms(t.Context(), []chain.Address{listed, old, other})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if terms.FeeBps != wantFee || !terms.Calls[listed] || !terms.Calls[old] || terms.Calls[other] || n.requests != wantQuestions {
			t.Errorf("%s: terms = %+v after %d questions, want a fee of %d after %d", what, terms, n.requests, wantFee, wantQuestions)
		}
	}
	check("at first", 8, 1)
	n.fee = "0x" + fmt.Sprintf("%064x", 30)
	check("at once again", 8, 1)
	now = now.Add(termsFresh)
	check("after a while", 30, 2)
	now, n.fee = now.Add(termsFresh), ""
	check("of a node without the contract", 30, 3)
	n.down = true
	check("with the chain down", 30, 3)
	now = now.Add(24 * time.Hour)
	check("with the chain down for long", 30, 3)
	if _, err := r.Terms(t.Context(), []chain.Address{hexAddress(payee)}); err == nil || errors.Is(err, quote.ErrNoRouter) {
		t.Errorf("Terms about a venue that was never asked about = %v, want that the chain is down", err)
	}
}

const (
	velora   = "0x6a000f20005980200259b80c5102003040001068"
	stranger = "0x1111111111111111111111111111111111111111"
	payee    = "0x2222222222222222222222222222222222222222"
)

func TestChainsWithoutTheRouterAreNotAskedAgainSoon(t *testing.T) {
	for name, n := range map[string]*routerNode{
		"nothing": {}, "no fee": {fee: "0x"}, "no version": {fee: newWord, unsigned: true}, "an absurd fee": {fee: "0x" + fmt.Sprintf("%064x", 10_001)},
	} {
		r := n.serve(t)
		for range 3 {
			if _, err := r.Terms(context.Background(), []chain.Address{hexAddress(listedVenue)}); !errors.Is(err, quote.ErrNoRouter) {
				t.Errorf("%s: Terms = %v, want ErrNoRouter", name, err)
			}
		}
		if n.requests != 1 {
			t.Errorf("%s: %d questions, want 1", name, n.requests)
		}
	}
}

func hexAddress(text string) chain.Address { return chain.NewAddress(common.FromHex(text)) }

func decimalAmount(t *testing.T, text string) chain.Amount {
	t.Helper()
	return must.Get(chain.ParseAmount(text))(t)
}
