package bench

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// truth is what a world's contracts hold, as far as a fleet's clients ask for it.
type truth struct {
	world  *sandbox.World
	asks   *http.Client // independent of the gateways
	taker  string
	swap   string // a path
	output *big.Int
	orders []seenOrder // from the history, which does not change
	locked map[string]bool

	mu    sync.Mutex
	fresh []seenOrder // fulfilled while questions were asked
}

// seenOrder is an order as the world shows it.
type seenOrder struct{ OrderID, CreationTxHash, State string }

// look reads what the world shows.
func look(t *testing.T, world *sandbox.World) *truth {
	t.Helper()
	f := &truth{world: world, asks: &http.Client{Timeout: patience}, taker: world.Takers()[0].Address.Hex(), locked: map[string]bool{}}
	var seen struct{ Orders []seenOrder }
	sandboxtest.Control(t, world, "world", "", &seen)
	of := map[string]int{} // orders of each transaction
	for _, o := range seen.Orders {
		of[o.CreationTxHash]++
	}
	for _, o := range seen.Orders {
		if of[o.CreationTxHash] == 1 { // because its record is requested by that
			f.orders = append(f.orders, o)
		}
	}
	for _, listed := range world.Chains()[0].Tokens {
		if listed.Symbol == "USDC" {
			f.swap = "/v1.0/chain/estimation?chainId=1&tokenIn=0x0000000000000000000000000000000000000000&tokenInAmount=1000000000000000000&tokenOut=" + listed.Address.Hex()
		}
	}
	return f
}

// deliver creates an order that the taker fulfils, and which is asked about from now on.
func (f *truth) deliver(t *testing.T) (o seenOrder) {
	t.Helper()
	made := sandboxtest.Deliver(t, f.world)
	o = seenOrder{made.OrderID, made.CreationTxHash, "Fulfilled"}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fresh = append(f.fresh, o)
	return o
}

func (f *truth) lockedPath() string { return "/api/Satistics/" + f.taker + "/lockedAssets" }

// stateText matches an order's state in its record, and in the answer that has nothing else.
var stateText = regexp.MustCompile(`"(?:state|status)":"([A-Za-z]+)"`)

var orderID = regexp.MustCompile(`0x[0-9a-f]{64}`)

// settle waits until a gateway answers everything that does not change, and records what only it can say: what is
// locked, and what the swap yields if all venues answer.
func (f *truth) settle(t *testing.T, url string) {
	t.Helper()
	f.until(t, url, f.lockedPath(), func(got head, body []byte) error {
		if got.status != http.StatusOK || got.isBehind {
			return fmt.Errorf("%d: %.200s", got.status, body)
		}
		for _, id := range orderID.FindAllString(string(body), -1) {
			f.locked[id] = true
		}
		return nil
	})
	for _, o := range f.orders {
		isTaken := o.State == "Fulfilled" || o.State == "SentUnlock"
		if f.locked[o.OrderID] && !isTaken {
			t.Errorf("order %s is %s, and locked", o.OrderID, o.State)
		}
	}
	if len(f.locked) == 0 {
		t.Error("nothing is locked for the first taker")
	}
	f.until(t, url, f.swap, func(got head, body []byte) error {
		var err error
		f.output, err = outputOf(body)
		return err
	})
}

// until requests a path until check succeeds.
func (f *truth) until(t *testing.T, url, path string, check func(head, []byte) error) {
	t.Helper()
	await(t, "right: GET "+path, func(context.Context) error {
		response, err := f.asks.Get(url + path)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		return errors.Join(err, check(head{
			status: response.StatusCode, retryAfter: response.Header.Get("Retry-After"), isBehind: strings.Contains(response.Header.Get("Index-Basis"), ";behind"),
		}, body))
	})
}

// outputOf decodes a swap's estimated output.
func outputOf(body []byte) (*big.Int, error) {
	var estimate struct {
		Estimation struct{ TokenOut struct{ Amount string } }
	}
	if err := json.Unmarshal(body, &estimate); err != nil {
		return nil, fmt.Errorf("%w: %.200s", err, body)
	}
	amount, is := new(big.Int).SetString(estimate.Estimation.TokenOut.Amount, 10)
	if !is {
		return nil, fmt.Errorf("no amount: %.300s", body)
	}
	return amount, nil
}

// mix returns the next question, as wallets, takers and pages ask it.
func (f *truth) mix(without missing) question {
	o := f.orders[mathrand.IntN(len(f.orders))]
	reason := "INDEX_UNAVAILABLE"
	if without.chain {
		reason = "CHAIN_UNREACHABLE" // what the index has not read of the chain is read from it
		if without.index {
			reason = "UN" // either
		}
	}
	byIndex := func(path string, check func(head, []byte) error) question {
		q := ask(path, longestAnswer, declining(without.index || without.chain, reason, check))
		if without.index {
			q.cold = longestCold
		}
		return q
	}
	cold := func(path string, check func(head, []byte) error) question {
		q := ask(path, longestCold, declining(without.index || without.chain, "", check))
		q.isHit = false
		return q
	}
	switch n := mathrand.IntN(100); {
	case n < 25:
		return byIndex("/api/Orders/creationTxHash/"+o.CreationTxHash, isOrder(o))
	case n < 30:
		if o, has := f.newest(); has {
			return cold("/api/Orders/creationTxHash/"+o.CreationTxHash, isMoving(o))
		}
		return f.mix(without)
	case n < 50:
		return byIndex("/api/Orders/"+o.OrderID, isOrder(o))
	case n < 65:
		return byIndex(f.lockedPath(), f.isLocked)
	case n < 80:
		return byIndex("/v1.0/dln/order/"+o.OrderID+"/status", isOrder(o))
	case n < 90:
		swap := cold(f.swap, declining(without.reply, "", f.isSwap))
		if without.reply {
			swap.limit = longestSwap
		}
		return swap
	case n < 95 && without.proof:
		return cold("/api/Orders/creationTxHash/"+strange(), isStatus(http.StatusServiceUnavailable))
	case n < 95:
		return cold("/api/Orders/creationTxHash/"+strange(), isStatus(http.StatusNotFound))
	default:
		return byIndex("/api/Orders/"+strange(), isStatus(http.StatusNotFound))
	}
}

func ask(path string, limit time.Duration, check func(head, []byte) error) question {
	return question{text: fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: crossgate\r\n\r\n", path), isHit: true, limit: limit, check: check}
}

// strange returns a hash that has never been used.
func strange() string {
	var hash [32]byte
	_, _ = rand.Read(hash[:]) // it never fails
	return fmt.Sprintf("0x%x", hash)
}

// newest returns the order that was fulfilled last.
func (f *truth) newest() (o seenOrder, has bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.fresh) == 0 {
		return o, false
	}
	return f.fresh[len(f.fresh)-1], true
}

// declining also accepts the gateway's 503 with the reason and Retry-After, and without a reason also the balancer's
// 504.
func declining(may bool, reason string, check func(head, []byte) error) func(head, []byte) error {
	return func(got head, body []byte) error {
		isDeclined := got.status == http.StatusServiceUnavailable && got.retryAfter != "" && strings.Contains(string(body), reason)
		if may && (isDeclined || reason == "" && got.status == http.StatusGatewayTimeout) {
			return errDeclined
		}
		return check(got, body)
	}
}

func isStatus(want int) func(head, []byte) error {
	return func(got head, body []byte) error {
		if got.status != want {
			return fmt.Errorf("%d: %.200s, want %d", got.status, body, want)
		}
		return nil
	}
}

func isOrder(o seenOrder) func(head, []byte) error {
	return func(got head, body []byte) error {
		if state := stateText.FindSubmatch(body); got.status != http.StatusOK || state == nil || string(state[1]) != o.State {
			return fmt.Errorf("%d: %.60q… %q, want order %s, %s", got.status, body, state, o.OrderID, o.State)
		}
		if !strings.Contains(string(body), o.OrderID) {
			return fmt.Errorf("another order than %s: %.200s", o.OrderID, body)
		}
		return nil
	}
}

// isMoving requires an order that was fulfilled a moment ago; the index may not have read that yet.
func isMoving(o seenOrder) func(head, []byte) error {
	created := o
	created.State = "Created"
	return func(got head, body []byte) error {
		if isOrder(created)(got, body) == nil {
			return nil
		}
		return isOrder(o)(got, body)
	}
}

// isLocked requires all orders that were locked before, and otherwise only those fulfilled since.
func (f *truth) isLocked(got head, body []byte) error {
	if got.status != http.StatusOK {
		return fmt.Errorf("%d: %.200s", got.status, body)
	}
	f.mu.Lock()
	may := map[string]bool{}
	for _, o := range f.fresh {
		may[o.OrderID] = true
	}
	f.mu.Unlock()
	found := map[string]bool{}
	for _, id := range orderID.FindAllString(string(body), -1) {
		found[id] = true
		if !may[id] && !f.locked[id] {
			return fmt.Errorf("order %s is not locked", id)
		}
	}
	for id := range f.locked {
		if !found[id] {
			return fmt.Errorf("order %s is locked, and not told", id)
		}
	}
	return nil
}

// isSwap requires the output with all venues, or up to a hundredth less if some are late.
func (f *truth) isSwap(got head, body []byte) error {
	amount, err := outputOf(body)
	if got.status != http.StatusOK || err != nil {
		return fmt.Errorf("%d: %.300s", got.status, body)
	}
	least := new(big.Int).Div(new(big.Int).Mul(f.output, big.NewInt(99)), big.NewInt(100))
	if amount.Cmp(least) < 0 || amount.Cmp(f.output) > 0 {
		return fmt.Errorf("the swap yields %s, want %s", amount, f.output)
	}
	return nil
}
