package evm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"crossgate/cache/recent"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
)

const (
	maxHeadMessage = 64 << 10 // bytes; a header takes one to five thousand
	headPings      = 30 * time.Second
	usualSilence   = time.Minute // of a chain whose block time is unknown
)

// HeadSubscriptionOptions describe the WebSocket of an endpoint.
type HeadSubscriptionOptions struct {
	Name    string        // in errors, where the URL never appears
	URL     string        // ws:// or wss://
	Header  http.Header   // of the handshake: keys, for instance
	Timeout time.Duration // of the handshake, of each answer and each ping; 10 s by default
}

// HeadSubscription is the subscription to a chain's heads at one endpoint: eth_subscribe newHeads over a WebSocket
// (https://geth.ethereum.org/docs/interacting-with-geth/rpc/pubsub). Safe for concurrent use.
type HeadSubscription struct {
	HeadSubscriptionOptions

	chain    chain.Chain
	silence  time.Duration // after it the subscription may have been dropped: reconnect
	pings    time.Duration // interval
	client   *http.Client
	scrubber *strings.Replacer
}

// NewHeadSubscription returns the subscription that o describes, without connecting.
func NewHeadSubscription(c chain.Chain, o HeadSubscriptionOptions) (*HeadSubscription, error) {
	address, err := url.Parse(o.URL)
	if err != nil || address.Host == "" || (address.Scheme != "ws" && address.Scheme != "wss") {
		return nil, fmt.Errorf("endpoint %s: WebSocket is not ws(s)://host/…", o.Name)
	}
	o.Header, o.Timeout = o.Header.Clone(), cmp.Or(o.Timeout, 10*time.Second)
	return &HeadSubscription{
		HeadSubscriptionOptions: o, chain: c, silence: cmp.Or(c.HeadLife(), usualSilence), pings: headPings,
		client: &http.Client{
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // redirects leak keys
		},
		scrubber: upstream.NewScrubber(o.Name, address, o.Header),
	}, nil
}

// Announce connects, checks that the endpoint serves the chain, and calls announce with each announced head until ctx
// ends or the connection is lost, and returns why. Announced heads are not verified.
func (n *HeadSubscription) Announce(ctx context.Context, announce func(order.Block)) error {
	connection, err := n.connect(ctx)
	if err != nil {
		return fmt.Errorf("%s: WebSocket: connect: %w", n.Name, err)
	}
	defer func() { _ = connection.CloseNow() }()
	subscription, err := n.subscribe(ctx, connection)
	if err != nil {
		return fmt.Errorf("%s: WebSocket: subscribe to newHeads: %w", n.Name, n.withoutAddress(err))
	}
	ctx, stop := context.WithCancelCause(ctx)
	var pinging sync.WaitGroup
	pinging.Go(func() {
		if silent := n.ping(ctx, connection); silent != nil {
			stop(silent)
		}
	})
	defer pinging.Wait()
	defer stop(nil)
	for {
		head, err := n.nextHead(ctx, connection, subscription)
		if err != nil {
			return fmt.Errorf("%s: WebSocket: read heads: %w", n.Name, n.withoutAddress(cmp.Or(context.Cause(ctx), err)))
		}
		announce(head)
	}
}

func (n *HeadSubscription) connect(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, n.Timeout)
	defer cancel()
	connection, response, err := websocket.Dial(ctx, n.URL, &websocket.DialOptions{HTTPClient: n.client, HTTPHeader: n.Header})
	switch {
	case err == nil:
		connection.SetReadLimit(maxHeadMessage)
		return connection, nil
	case response != nil && response.StatusCode != http.StatusSwitchingProtocols:
		return nil, fmt.Errorf("refused with HTTP %d; check the address and the key of websocket", response.StatusCode)
	}
	return nil, n.withoutAddress(err)
}

// withoutAddress removes the endpoint's address, which may hold a key, from an error about a connection.
func (n *HeadSubscription) withoutAddress(err error) error {
	var code *os.SyscallError
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return fmt.Errorf("a message is longer than %d bytes", maxHeadMessage)
	case websocket.CloseStatus(err) >= 0:
		return fmt.Errorf("closed by the endpoint with code %d", websocket.CloseStatus(err))
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("timed out")
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &code):
		return code
	}
	return errors.New(n.scrubber.Replace(err.Error()))
}

// headMessage is an answer to a call, or a notification.
type headMessage struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code int `json:"code"`
	} `json:"error"`
	Method string `json:"method"`
	Params struct {
		Subscription string          `json:"subscription"`
		Result       json.RawMessage `json:"result"`
	} `json:"params"`
}

// subscribe subscribes at an endpoint that claims to serve the chain, and returns the subscription's id.
func (n *HeadSubscription) subscribe(ctx context.Context, connection *websocket.Conn) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.Timeout)
	defer cancel()
	var native Quantity
	if err := call(ctx, connection, `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`, "1", &native); err != nil {
		return "", err
	}
	if uint64(native) != n.chain.Native {
		return "", fmt.Errorf("endpoint serves chain %d, not %d", native, n.chain.Native)
	}
	err = call(ctx, connection, `{"jsonrpc":"2.0","id":2,"method":"eth_subscribe","params":["newHeads"]}`, "2", &id)
	return id, err
}

// call makes a call and skips messages about anything else.
func call(ctx context.Context, connection *websocket.Conn, text, id string, out any) error {
	if err := connection.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		return err
	}
	for {
		m, err := nextMessage(ctx, connection)
		switch {
		case err != nil:
			return err
		case m.Error != nil:
			return fmt.Errorf("endpoint refused with JSON-RPC error %d", m.Error.Code)
		case string(m.ID) != id:
			continue
		case json.Unmarshal(m.Result, out) != nil:
			return errors.New("unexpected answer from the endpoint")
		}
		return nil
	}
}

func nextMessage(ctx context.Context, connection *websocket.Conn) (m headMessage, err error) {
	_, text, err := connection.Read(ctx)
	if err == nil && json.Unmarshal(text, &m) != nil {
		err = errors.New("endpoint sent no JSON-RPC")
	}
	return m, err
}

// nextHead returns the next head and skips other messages, for no longer than the longest silence.
func (n *HeadSubscription) nextHead(ctx context.Context, connection *websocket.Conn, subscription string) (order.Block, error) {
	ctx, cancel := context.WithTimeout(ctx, n.silence)
	defer cancel()
	for {
		m, err := nextMessage(ctx, connection)
		if err != nil {
			return order.Block{}, err
		}
		if m.Method == "eth_subscription" && m.Params.Subscription == subscription {
			return readHead(m.Params.Result)
		}
	}
}

func readHead(text []byte) (order.Block, error) {
	var head header
	var numbered struct{ Number *Quantity }
	if json.Unmarshal(text, &head) != nil || json.Unmarshal(text, &numbered) != nil || numbered.Number == nil || head.Hash.IsAbsent() {
		return order.Block{}, errors.New("endpoint announced a malformed head")
	}
	return head.block(), nil
}

// ping pings regularly until ctx ends, and returns an error if a ping is not answered.
func (n *HeadSubscription) ping(ctx context.Context, connection *websocket.Conn) error {
	for {
		if !order.Wait(ctx, n.pings, nil) {
			return nil
		}
		limited, cancel := context.WithTimeout(ctx, n.Timeout)
		err := connection.Ping(limited)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return errors.New("endpoint did not answer a ping")
		}
		if err != nil {
			return nil // the reader returns the reason
		}
	}
}

// readHeaders caches the headers read since the newest block was seen, so that reading the chain's tip requests none of
// them twice.
type readHeaders struct {
	known recent.Map[headerPlace, *header]
	heads atomic.Uint64 // times that everything was dropped
}

// headerPlace is the number of a block, and how many heads the chain had had when its header was requested.
type headerPlace struct{ number, heads uint64 }

const mostReadHeaders = 64

// since returns when a call for a header began, for keep.
func (r *readHeaders) since() (heads uint64) { return r.heads.Load() }

// keep caches h until the chain has a new head. One that came since the call for h began counts: h may be of a dropped
// branch.
func (r *readHeaders) keep(h *header, since uint64) {
	r.known.Put(headerPlace{uint64(h.Number), since}, h)
}

func (r *readHeaders) of(number uint64) *header {
	h, _ := r.known.Get(headerPlace{number, r.heads.Load()})
	return h
}

// forget drops everything: the chain has a new head, and may have other blocks.
func (r *readHeaders) forget() { r.heads.Add(1) }
