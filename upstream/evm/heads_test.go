package evm

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
)

// told returns the newHeads message for a block, as geth writes it.
func told(number uint64) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9ce5","result":`+
		`{"number":"0x%x","hash":"0x%064x","parentHash":"0x%064x","timestamp":"0x10","logsBloom":"0x00"}}}`, number, number, number-1)
}

// headServer serves an endpoint with a real WebSocket: it answers eth_chainId and eth_subscribe, sends messages, and
// then calls then.
func headServer(t *testing.T, chainID string, then func(context.Context, *websocket.Conn), messages ...string) HeadSubscriptionOptions {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer canary-4f1d2a" {
			http.Error(w, "canary-4f1d2a is missing", http.StatusUnauthorized)
			return
		}
		connection, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = connection.CloseNow() }()
		say := func(text string) {
			_ = connection.Write(r.Context(), websocket.MessageText, []byte(text)) // fails if the client has left
		}
		for _, answer := range []string{`{"jsonrpc":"2.0","id":1,"result":` + chainID + `}`, `{"jsonrpc":"2.0","id":2,"result":"0x9ce5"}`} {
			if _, _, err := connection.Read(r.Context()); err != nil {
				return
			}
			say(answer)
		}
		for _, message := range messages {
			say(message)
		}
		then(r.Context(), connection)
	}))
	t.Cleanup(server.Close)
	return HeadSubscriptionOptions{
		Name: "node", URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/canary-4f1d2a",
		Header: http.Header{"Authorization": {"Bearer canary-4f1d2a"}},
	}
}

func stay(ctx context.Context, connection *websocket.Conn) { <-connection.CloseRead(ctx).Done() }

func leave(_ context.Context, connection *websocket.Conn) {
	_ = connection.Close(websocket.StatusTryAgainLater, "canary-4f1d2a")
}

// announced returns the numbers of the heads announced by a subscription on Ethereum, and its error; it is stopped
// after most heads.
func announced(t *testing.T, o HeadSubscriptionOptions, most int) (numbers []uint64, err error) {
	t.Helper()
	n := must.Get(NewHeadSubscription(chain.Chain{ID: 1, Native: 1, BlockTime: 12 * time.Second}, o))(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err = n.Announce(ctx, func(head order.Block) {
		if numbers = append(numbers, head.Number); len(numbers) == most {
			stop()
		}
	})
	return numbers, err
}

func TestHeadsAreAnnouncedUntilTheCallerLeaves(t *testing.T) {
	other := strings.ReplaceAll(told(9), "0x9ce5", "0x1")
	o := headServer(t, `"0x1"`, stay, told(5), other, `{"jsonrpc":"2.0","id":7,"result":true}`, told(6), told(7))
	if numbers, err := announced(t, o, 3); fmt.Sprint(numbers) != "[5 6 7]" || err == nil {
		t.Errorf("heads %v were announced, then %v: want 5 6 7, and why they ended", numbers, err)
	}
}

func TestWhatEndsAnnouncedHeads(t *testing.T) {
	without := headServer(t, `"0x1"`, stay)
	without.Header = nil
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, c := range map[string]struct {
		options HeadSubscriptionOptions
		heads   int
		want    string
	}{
		"closed":        {headServer(t, `"0x1"`, leave, told(5)), 1, "node: WebSocket: read heads: closed by the endpoint with code 1013"},
		"text":          {headServer(t, `"0x1"`, stay, told(5), "canary-4f1d2a"), 1, "node: WebSocket: read heads: endpoint sent no JSON-RPC"},
		"no head":       {headServer(t, `"0x1"`, stay, strings.Replace(told(5), "0x5", "canary-4f1d2a", 1)), 0, "node: WebSocket: read heads: endpoint announced a malformed head"},
		"long":          {headServer(t, `"0x1"`, stay, told(5), strings.Repeat("x", maxHeadMessage+1)), 1, "node: WebSocket: read heads: a message is longer than 65536 bytes"},
		"another chain": {headServer(t, `"0x38"`, stay, told(5)), 0, "node: WebSocket: subscribe to newHeads: endpoint serves chain 56, not 1"},
		"no chain":      {headServer(t, `{}`, stay, told(5)), 0, "node: WebSocket: subscribe to newHeads: unexpected answer from the endpoint"},
		"no key":        {without, 0, "node: WebSocket: connect: refused with HTTP 401; check the address and the key of websocket"},
		"nobody":        {HeadSubscriptionOptions{Name: "node", URL: "ws" + strings.TrimPrefix(closed.URL, "http") + "/canary-4f1d2a"}, 0, "node: WebSocket: connect: connect: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			numbers, err := announced(t, c.options, 99)
			if len(numbers) != c.heads || err == nil || err.Error() != c.want {
				t.Errorf("%d heads were announced, then %v: want %d, then %s", len(numbers), err, c.heads, c.want)
			}
		})
	}
}

func TestHeadsAreNotAnnouncedByASilentEndpoint(t *testing.T) {
	o := headServer(t, `"0x1"`, stay)
	n := must.Get(NewHeadSubscription(chain.Chain{ID: 1, Native: 1}, o))(t)
	n.silence = time.Millisecond
	if err := n.Announce(t.Context(), func(order.Block) {}); err == nil || !strings.HasSuffix(err.Error(), "timed out") {
		t.Errorf("a silent endpoint ended with %v, want that nothing came in time", err)
	}
}

func TestHeadsAreNotAnnouncedByAnEndpointThatAnswersNoPing(t *testing.T) {
	o := headServer(t, `"0x1"`, func(ctx context.Context, _ *websocket.Conn) { <-ctx.Done() }, told(5)) // it stops reading
	o.Timeout = 2 * time.Second
	n := must.Get(NewHeadSubscription(chain.Chain{ID: 1, Native: 1}, o))(t)
	n.pings = time.Millisecond
	if err := n.Announce(t.Context(), func(order.Block) {}); err == nil || !strings.HasSuffix(err.Error(), "read heads: endpoint did not answer a ping") {
		t.Errorf("an endpoint that answers no ping ended with %v", err)
	}
}

func TestAnAddressThatIsNoneIsNotQuoted(t *testing.T) {
	_, err := NewHeadSubscription(chain.Chain{}, HeadSubscriptionOptions{Name: "node", URL: "https://canary-4f1d2a"})
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("NewHeadSubscription = %v, want an error without the address", err)
	}
}

func FuzzReadHead(f *testing.F) {
	f.Add([]byte(`{"number":"0x5","hash":"0x` + strings.Repeat("05", 32) + `"}`))
	f.Add([]byte(`{"number":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		head, err := readHead(text)
		if (err == nil) == head.Hash.IsAbsent() {
			t.Errorf("%q is head %+v, %v", text, head, err)
		}
	})
}
