package stories_test

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	client "crossgate/clients/go"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// clients is the folder of the client libraries.
var clients = filepath.Join("..", "..", "clients")

// typescript is held while a test compiles clients/typescript to a folder in the tree and uses that.
var typescript sync.Mutex

// TestTypeScriptClient runs the client's own tests against a gateway, and against one with a small quota. It compiles
// them, with the code that must not compile, after checking that the generated types are up to date.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	want(t, "node", "npm")
	directory := filepath.Join(clients, "typescript")
	if _, err := os.Stat(filepath.Join(directory, "node_modules", "openapi-typescript")); err != nil {
		t.Skip("openapi-typescript is not there: npm ci in clients/typescript, which make test does")
	}
	world := sandboxtest.Start(t, sandbox.Options{})
	front := inFrontOf(t, world)
	limited := inFrontOf(t, world, "limits: {address: {units: 10, window: 5s}}")
	typescript.Lock()
	defer typescript.Unlock()
	test := exec.CommandContext(t.Context(), "npm", "test", "--silent")
	test.Dir = directory
	test.Env = append(os.Environ(), "GATEWAY="+front.url, "LIMITED="+limited.url, "SANDBOX="+world.URL())
	t.Logf("%s", runExample(t, test))
}

// TestGoClient calls every method of the package in clients/go.
func TestGoClient(t *testing.T) {
	t.Parallel()
	f := readingFront(t)
	gateway := client.Client{URL: f.url}
	world := factsOf(t, f.world)
	first, tron := world.Orders[0], client.ChainID(728126428)

	order, err := gateway.Order(t.Context(), first.CreationTxHash)
	if err != nil || string(order.ID) != first.OrderID || order.State != first.State || order.Created == nil || string(order.Created.Transaction) != first.CreationTxHash {
		t.Errorf("Order(%s) = %+v, %v; want %+v", first.CreationTxHash, order, err, first)
	}
	same, err := gateway.OrderByID(t.Context(), first.OrderID)
	if err != nil || !bytes.Equal(same.Raw, order.Raw) || same.Give.Amount.Sign() <= 0 {
		t.Errorf("OrderByID(%s) = %s, %v; want %s", first.OrderID, same.Raw, err, order.Raw)
	}
	if ids, err := gateway.OrderIDs(t.Context(), first.CreationTxHash); err != nil || !slices.Contains(ids, order.ID) {
		t.Errorf("OrderIDs(%s) = %v, %v; want %s", first.CreationTxHash, ids, err, order.ID)
	}
	list, err := gateway.Orders(t.Context(), client.OrderFilter{GiveChains: []client.ChainID{tron}, Take: 1})
	if err != nil || len(list.Orders) != 1 || list.Total < 1 || list.Orders[0].Give.Chain != tron || list.Orders[0].Give.Amount.Sign() <= 0 {
		t.Errorf("Orders of TRON = %+v, %v; want one of several", list, err)
	}
	locked, err := gateway.LockedAssets(t.Context(), world.Takers[0].Address)
	if err != nil || len(locked.Chains) == 0 || len(locked.Chains[0].Tokens[0].Destinations[0].Orders) == 0 {
		t.Errorf("LockedAssets = %+v, %v; want some", locked, err)
	}
	const coin = "0x0000000000000000000000000000000000000000"
	tenth := big.NewInt(1e17)
	swap, err := gateway.Swap(t.Context(), client.SwapQuery{
		Chain: 1, TokenIn: coin, TokenOut: world.Tokens[1].Address, AmountIn: tenth, Recipient: world.Accounts[0].Address, Slippage: 0.5,
	})
	if err != nil || swap.Tx == nil || swap.Tx.Value.Cmp(tenth) != 0 || swap.Out.Minimum.Cmp(swap.Out.Amount.Int) >= 0 {
		t.Errorf("Swap = %+v, %v; want %v to send", swap, err, tenth)
	}
	account := world.Accounts[0].Address
	query := client.CreationQuery{
		Give: 1, Take: 146, TokenIn: coin, TokenOut: coin, AmountIn: tenth, Recipient: account, GiveAuthority: account, TakeAuthority: account,
		More: map[string]string{"referralCode": "7"},
	}
	quote, err := gateway.QuoteOrder(t.Context(), query)
	if out := quote.Estimation.Out; err != nil || quote.Tx.Allowance.Cmp(tenth) != 0 || out.Chain != 146 || out.Amount.Sign() <= 0 || quote.Margin.Amount.Sign() <= 0 || quote.Margin.Bps < 3 {
		t.Errorf("QuoteOrder = %+v, %v; want %v to give for some", quote, err, tenth)
	}
	made, err := gateway.CreateOrder(t.Context(), query)
	if err != nil || made.Tx == nil || made.Tx.Value.Cmp(new(big.Int).Add(tenth, made.FixedFee.Int)) != 0 || made.Plan.Salt == 0 {
		t.Fatalf("CreateOrder = %+v, %v; want %v and the fixed fee to send", made, err, tenth)
	}
	query.TokenOut, query.AmountIn = world.Takers[0].Address, big.NewInt(1)
	verified, err := gateway.Verify(t.Context(), client.VerifyQuery{
		Chain: 1, From: account, To: made.Tx.To, Value: made.Tx.Value.Int, Data: made.Tx.Data, Asked: &query,
	})
	if err != nil || verified.Verdict != "Creates" || len(verified.Orders) != 1 || verified.Orders[0].ID != made.ID || len(verified.Differences) != 2 {
		t.Errorf("Verify = %+v, %v; want order %s, which has another token and amount", verified, err, made.ID)
	}
	of := func(state string) string {
		evm := []client.ChainID{1, 137, 8453}
		all, err := gateway.Orders(t.Context(), client.OrderFilter{States: []string{state}, GiveChains: evm, TakeChains: evm, Take: 1})
		if err != nil || len(all.Orders) != 1 {
			t.Fatalf("Orders that are %s = %+v, %v; want one of several", state, all, err)
		}
		return string(all.Orders[0].ID)
	}
	cancel, err := gateway.CancelOrder(t.Context(), of("Created"))
	if err != nil || cancel.Data == "" || cancel.From == "" || cancel.Refund == "" || cancel.Chain == 0 {
		t.Errorf("CancelOrder = %+v, %v; want a transaction", cancel, err)
	}
	unlock, err := gateway.UnlockOrders(t.Context(), world.Takers[0].Address, of("Fulfilled"))
	if err != nil || unlock.Data == "" || unlock.From == "" || unlock.Value.Int == nil || unlock.Chain == 0 {
		t.Errorf("UnlockOrders = %+v, %v; want a transaction", unlock, err)
	}
	var refused *client.Error
	if _, err = gateway.CancelCall(t.Context(), of("Created")); !errors.As(err, &refused) || refused.ID != "NO_EXTERNALCALL_ATTACHED" {
		t.Errorf("CancelCall: %+v, want the API's error", err)
	}
	_, err = gateway.OrderByID(t.Context(), "0x00")
	if !errors.As(err, &refused) || refused.ID != "MALFORMED_ORDER_ID" || refused.Status != 400 || len(refused.Request) != 32 {
		t.Errorf("OrderByID(0x00): %+v, want the API's error", err)
	}
}

// TestGoClientWatches follows an order through its life on streams that break after each event.
func TestGoClientWatches(t *testing.T) {
	t.Parallel()
	f := startFront(t)
	var made sandboxtest.Order
	sandboxtest.Control(t, f.world, "create",
		`{"chainId":1,"takeChainId":137,"giveToken":"USDC","giveAmount":"100","takeToken":"DAI","takeAmount":"99.5"}`, &made)
	cut := &cutting{after: "event: happened"}
	gateway := client.Client{URL: f.url, HTTP: &http.Client{Transport: cut}}
	next := map[string]string{"Created": "fulfil", "Fulfilled": "unlock", "SentUnlock": "claim"}
	var seen []string
	for order, err := range gateway.WatchOrder(t.Context(), made.CreationTxHash) {
		must.Do(t, err)
		if seen = slices.Compact(append(seen, order.State)); next[order.State] != "" {
			sandboxtest.Control(t, f.world, next[order.State], `{"orderId":"`+made.OrderID+`"}`, new(any))
			delete(next, order.State)
		}
	}
	if want := []string{"Created", "Fulfilled", "SentUnlock", "ClaimedUnlock"}; !slices.Equal(seen, want) || cut.streams.Load() < 2 {
		t.Errorf("saw %v on %d streams, want %v on several", seen, cut.streams.Load(), want)
	}
}

// cutting forwards requests, and breaks every other stream after a text.
type cutting struct {
	after   string
	streams atomic.Int32
}

func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.Header.Get("Content-Type") == "text/event-stream" && c.streams.Add(1)%2 == 1 {
		response.Body = &cutBody{ReadCloser: response.Body, after: c.after}
	}
	return response, nil
}

// cutBody is a stream that breaks after a text.
type cutBody struct {
	io.ReadCloser
	after  string
	broken bool
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.broken {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(p)
	c.broken = bytes.Contains(p[:n], []byte(c.after))
	return n, err
}
