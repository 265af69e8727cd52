package evm

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"

	"crossgate/chain"
	"crossgate/order"
)

const (
	maxHeadMessage = 64 << 10 // bytes; a header takes one to five thousand
	headPings      = 30 * time.Second
	// A subscription silent for so many block times, and for a minute, may have been dropped: connect anew.
	silentBlocks    = 20
	shortestSilence = time.Minute
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
	chain   chain.Chain
	name    string
	url     string
	header  http.Header
	timeout time.Duration
	silence time.Duration
	pings   time.Duration // between two
	client  *http.Client
}

// NewHeadSubscription returns the subscription that o describes; it connects to nothing yet.
func NewHeadSubscription(c chain.Chain, o HeadSubscriptionOptions) (*HeadSubscription, error) {
	address, err := url.Parse(o.URL)
	if err != nil || address.Host == "" || (address.Scheme != "ws" && address.Scheme != "wss") {
		return nil, fmt.Errorf("endpoint %s: WebSocket is not ws(s)://host/…", o.Name)
	}
	return &HeadSubscription{
		chain: c, name: o.Name, url: o.URL, header: o.Header.Clone(), timeout: cmp.Or(o.Timeout, 10*time.Second),
		silence: max(silentBlocks*c.BlockTime, shortestSilence), pings: headPings,
		client: &http.Client{
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // keys would go along
		},
	}, nil
}

// Announce connects, has the endpoint prove its chain, and calls announce with each announced head, until ctx ends or
// the connection is lost: then it returns why. Announced heads are not verified.
func (n *HeadSubscription) Announce(ctx context.Context, announce func(order.Block)) error {
	connection, err := n.connect(ctx)
	if err != nil {
		return fmt.Errorf("%s: WebSocket: connect: %w", n.name, err)
	}
	defer func() { _ = connection.CloseNow() }()
	s := &headSocket{connection: connection, timeout: n.timeout}
	subscription, err := s.subscribe(ctx, n.chain)
	if err != nil {
		return fmt.Errorf("%s: WebSocket: subscribe to newHeads: %w", n.name, withoutAddress(err))
	}
	ctx, stop := context.WithCancelCause(ctx)
	var pinging sync.WaitGroup
	pinging.Go(func() {
		if silent := s.ping(ctx, n.pings); silent != nil {
			stop(silent)
		}
	})
	defer pinging.Wait()
	defer stop(nil)
	err = s.read(ctx, subscription, n.silence, announce)
	return fmt.Errorf("%s: WebSocket: read heads: %w", n.name, withoutAddress(cmp.Or(context.Cause(ctx), err)))
}

func (n *HeadSubscription) connect(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	connection, response, err := websocket.Dial(ctx, n.url, &websocket.DialOptions{HTTPClient: n.client, HTTPHeader: n.header})
	switch {
	case err == nil:
		connection.SetReadLimit(maxHeadMessage)
		return connection, nil
	case response != nil && response.StatusCode != http.StatusSwitchingProtocols:
		return nil, fmt.Errorf("refused with HTTP %d; check the address and the key of websocket", response.StatusCode)
	}
	return nil, withoutAddress(err)
}

// withoutAddress is as much of an error about a connection as holds no address: that of the endpoint may be a key.
func withoutAddress(err error) error {
	var own *headError
	var failed *net.OpError
	var unknown *net.DNSError
	var code *os.SyscallError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, websocket.ErrMessageTooBig):
		return fmt.Errorf("a message is longer than %d bytes", maxHeadMessage)
	case websocket.CloseStatus(err) >= 0:
		return fmt.Errorf("closed by the endpoint with code %d", websocket.CloseStatus(err))
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("nothing came in time")
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &unknown):
		return errors.New("the name of its host cannot be resolved")
	case errors.As(err, &untrusted):
		return errors.New("its certificate cannot be verified")
	case errors.As(err, &code):
		return code
	case errors.As(err, &failed):
		return fmt.Errorf("network error at %s", failed.Op)
	}
	return errors.New("connection broke")
}

// headError describes a bad message of an endpoint without quoting it.
type headError struct{ text string }

func (e *headError) Error() string { return e.text }

// headSocket is a connection on which JSON-RPC is spoken, one call at a time.
type headSocket struct {
	connection *websocket.Conn
	timeout    time.Duration
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

// subscribe returns the id of the subscription, at an endpoint that says it serves the chain.
func (s *headSocket) subscribe(ctx context.Context, c chain.Chain) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var native Quantity
	if err := s.call(ctx, `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`, "1", &native); err != nil {
		return "", err
	}
	if uint64(native) != c.Native {
		return "", &headError{fmt.Sprintf("endpoint serves chain %d, not %d", native, c.Native)}
	}
	err = s.call(ctx, `{"jsonrpc":"2.0","id":2,"method":"eth_subscribe","params":["newHeads"]}`, "2", &id)
	return id, err
}

func (s *headSocket) call(ctx context.Context, text, id string, out any) error {
	if err := s.connection.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		return err
	}
	for {
		m, err := s.next(ctx)
		switch {
		case err != nil:
			return err
		case string(m.ID) != id && m.Error == nil:
			continue
		case m.Error != nil:
			return &headError{fmt.Sprintf("endpoint refused with JSON-RPC error %d", m.Error.Code)}
		case json.Unmarshal(m.Result, out) != nil:
			return &headError{"endpoint answered something else"}
		}
		return nil
	}
}

func (s *headSocket) next(ctx context.Context) (m headMessage, err error) {
	_, text, err := s.connection.Read(ctx)
	if err != nil {
		return m, err
	}
	if json.Unmarshal(text, &m) != nil {
		return m, &headError{"endpoint sent no JSON-RPC"}
	}
	return m, nil
}

// read returns why no more heads come.
func (s *headSocket) read(ctx context.Context, subscription string, silence time.Duration, announce func(order.Block)) error {
	for {
		head, err := s.nextHead(ctx, subscription, silence)
		if err != nil {
			return err
		}
		announce(head)
	}
}

// nextHead passes over messages about anything else, for no longer than silence.
func (s *headSocket) nextHead(ctx context.Context, subscription string, silence time.Duration) (order.Block, error) {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	for {
		m, err := s.next(ctx)
		if err != nil {
			return order.Block{}, err
		}
		if m.Method == "eth_subscription" && m.Params.Subscription == subscription {
			return readHead(m.Params.Result)
		}
	}
}

// readHead reads a notification of newHeads.
func readHead(text []byte) (order.Block, error) {
	var told struct {
		Number     *Quantity  `json:"number"`
		Hash       chain.Hash `json:"hash"`
		ParentHash chain.Hash `json:"parentHash"`
		Timestamp  Quantity   `json:"timestamp"`
	}
	if json.Unmarshal(text, &told) != nil || told.Number == nil || told.Hash.IsAbsent() {
		return order.Block{}, &headError{"endpoint announced a malformed head"}
	}
	return order.Block{
		Number: uint64(*told.Number), Hash: told.Hash, Parent: told.ParentHash, Time: uint64(told.Timestamp),
	}, nil
}

// ping asks for a sign of life every so often, until ctx ends or there is none: then it returns an error.
func (s *headSocket) ping(ctx context.Context, every time.Duration) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
		limited, cancel := context.WithTimeout(ctx, s.timeout)
		err := s.connection.Ping(limited)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return &headError{"endpoint did not answer a ping"}
		}
		if err != nil {
			return nil // the reader has the reason
		}
	}
}
