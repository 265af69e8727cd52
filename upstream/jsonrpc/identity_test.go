package jsonrpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// ofChain returns a node that serves a chain and answers all other calls with the chain's ID.
func ofChain(id string, requests *atomic.Int64) pooltest.Transport {
	answers := node(func(c rpctest.Call) string {
		if c.Method == "eth_chainId" {
			return `"result":"` + id + `"`
		}
		return `"result":"from ` + id + `"`
	})
	return func(r *http.Request) (*http.Response, error) {
		requests.Add(1)
		return answers(r)
	}
}

// machine serves a node at an address of its own until the test ends, calling before with each request's first method.
func machine(t *testing.T, node pooltest.Transport, before func(w http.ResponseWriter, method string)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := rpctest.Read(r)
		told, nodeErr := node(r)
		if err = errors.Join(err, nodeErr); err != nil {
			t.Error(err)
			return
		}
		before(w, asked.Calls[0].Method)
		_, _ = io.Copy(w, told.Body)
	}))
	t.Cleanup(server.Close)
	return server
}

// chainProof requires endpoints to serve chain 0x1, and counts the proofs.
func chainProof(seen *atomic.Int64) *jsonrpc.Call {
	return &jsonrpc.Call{Method: "eth_chainId", Out: new(string), Accept: func(result any) error {
		seen.Add(1)
		if id := *result.(*string); id != "0x1" {
			return errors.New("serves chain " + id)
		}
		return nil
	}}
}

func TestEndpointsProveThemselvesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wrong, right, proofs atomic.Int64
		client := jsonrpc.New(upstream.NewPool("chain",
			pooltest.Endpoint(t, "wrong", ofChain("0x2", &wrong)), pooltest.Endpoint(t, "right", ofChain("0x1", &right)),
		)).Proving("chain", chainProof(&proofs))
		var name string
		for range 3 {
			if err := client.Call(t.Context(), "web3_name", &name); err != nil || name != "from 0x1" {
				t.Fatalf("Call = %q, %v, want the answer of the right chain", name, err)
			}
		}
		if wrong.Load() != 1 || right.Load() != 3 || proofs.Load() != 2 {
			t.Errorf("%d and %d requests with %d proofs, want 1 and 3 with one proof each", wrong.Load(), right.Load(), proofs.Load())
		}
		<-time.After(2 * time.Minute)
		if err := client.Call(t.Context(), "web3_name", &name); err != nil || proofs.Load() != 3 || right.Load() != 4 {
			t.Errorf("after two minutes: %v, %d proofs, %d requests, want another proof along with the call", err, proofs.Load(), right.Load())
		}
	})
}

func TestFailuresAskForAnotherProof(t *testing.T) {
	var requests, proofs atomic.Int64
	id := "0x1"
	down := false
	client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "node", func(r *http.Request) (*http.Response, error) {
		if down {
			return nil, errors.New("connection reset")
		}
		return ofChain(id, &requests)(r)
	}))).Proving("chain", chainProof(&proofs))
	call := func() error { return client.Call(t.Context(), "web3_name", new(string)) }
	must.Do(t, call())
	down = true
	if call() == nil {
		t.Fatal("a call to an endpoint that is down succeeded")
	}
	down, id = false, "0x2" // another machine answers at the same name
	if err := call(); err == nil || !strings.Contains(err.Error(), "serves chain 0x2") {
		t.Errorf("after coming back as another chain: %v", err)
	}
}

// TestCallersWhoLeaveAskForAnotherProof lets a caller cancel its request, which closes the connection.
func TestCallersWhoLeaveAskForAnotherProof(t *testing.T) {
	var requests, proofs atomic.Int64
	id, stuck := "0x1", false
	client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "node", func(r *http.Request) (*http.Response, error) {
		if stuck {
			return pooltest.Silent(r)
		}
		return ofChain(id, &requests)(r)
	}))).Proving("chain", chainProof(&proofs))
	must.Do(t, client.Call(t.Context(), "web3_name", new(string)))
	stuck = true
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := client.Call(gone, "web3_name", new(string)); !errors.Is(err, context.Canceled) {
		t.Fatalf("Call of a caller who left = %v", err)
	}
	stuck, id = false, "0x2"
	if err := client.Call(t.Context(), "web3_name", new(string)); err == nil || !strings.Contains(err.Error(), "serves chain 0x2") {
		t.Errorf("after a caller left, and another chain came: %v", err)
	}
}

// TestNewConnectionsAskForAnotherProof moves a name to another machine between two requests.
func TestNewConnectionsAskForAnotherProof(t *testing.T) {
	var requests, proofs atomic.Int64
	addressOf := func(id string) string {
		server := machine(t, ofChain(id, &requests), func(http.ResponseWriter, string) {})
		return server.Listener.Addr().String()
	}
	right, alsoRight, wrong := addressOf("0x1"), addressOf("0x1"), addressOf("0x2")
	leadsTo := right
	way := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, leadsTo)
	}}
	node := pooltest.Endpoint(t, "node", nil, upstream.EndpointOptions{Transport: way})
	client := jsonrpc.New(upstream.NewPool("chain", node)).Proving("chain", chainProof(&proofs))
	var name string
	ask := func() (number int64, err error) {
		before := requests.Load()
		err = client.Call(t.Context(), "web3_name", &name)
		return requests.Load() - before, err
	}
	for _, step := range []struct {
		name     string
		to       string
		requests int64
		proofs   int64
	}{
		{"first", right, 1, 1},
		{"over the same connection", right, 1, 1},
		{"over a new connection", alsoRight, 2, 2},
		{"over that one", alsoRight, 1, 2},
	} {
		if step.to != leadsTo {
			leadsTo = step.to
			way.CloseIdleConnections()
		}
		if number, err := ask(); err != nil || name != "from 0x1" || number != step.requests || proofs.Load() != step.proofs {
			t.Errorf("%s: %q, %v, %d requests, %d proofs, want %d and %d", step.name, name, err, number, proofs.Load(), step.requests, step.proofs)
		}
	}
	leadsTo = wrong
	way.CloseIdleConnections()
	if number, err := ask(); err == nil || !strings.Contains(err.Error(), "serves chain 0x2") || number != 2 {
		t.Errorf("over a connection to another chain: %v, %d requests", err, number)
	}
}

// TestConnectionsBesideOthersNeedNoProof lets a request lose the idle connection to one that began after it.
func TestConnectionsBesideOthersNeedNoProof(t *testing.T) {
	var requests, proofs atomic.Int64
	answered := make(chan struct{})
	server := machine(t, ofChain("0x1", &requests), func(_ http.ResponseWriter, method string) {
		if method == "web3_slow" {
			<-answered
		}
	})
	node := pooltest.Endpoint(t, "node", nil, upstream.EndpointOptions{URL: server.URL})
	client := jsonrpc.New(upstream.NewPool("chain", node)).Proving("chain", chainProof(&proofs))
	var name string
	must.Do(t, client.Call(t.Context(), "web3_name", &name))
	var other sync.WaitGroup
	beside := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GetConn: func(string) {
		taken := make(chan struct{})
		slow := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { close(taken) }})
		other.Go(func() {
			var name string
			if err := client.Call(slow, "web3_slow", &name); err != nil {
				t.Error(err)
			}
		})
		<-taken
	}})
	err := client.Call(beside, "web3_name", &name)
	close(answered)
	other.Wait()
	if err != nil || requests.Load() != 3 || proofs.Load() != 1 {
		t.Errorf("Call = %v, %d requests, %d proofs, want 3 and 1", err, requests.Load(), proofs.Load())
	}
}

// TestConnectionsOpenedBesideOthersNeedNoProof closes the connection that was in use when another was dialed before
// that one is open: a proof would repeat every request made over it.
func TestConnectionsOpenedBesideOthersNeedNoProof(t *testing.T) {
	for name, beginsFirst := range map[string]bool{"used before": true, "used meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			var requests, proofs atomic.Int64
			received, answered := make(chan struct{}), make(chan struct{})
			server := machine(t, ofChain("0x1", &requests), func(w http.ResponseWriter, method string) {
				if method == "web3_slow" {
					close(received)
					<-answered
					w.Header().Set("Connection", "close") // keeps this connection from being reused
				}
			})
			var opened atomic.Int64
			finished := make(chan struct{})
			way := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if opened.Add(1) == 2 {
					close(answered)
					<-finished
				}
				return new(net.Dialer).DialContext(ctx, network, address)
			}}
			node := pooltest.Endpoint(t, "node", nil, upstream.EndpointOptions{URL: server.URL, Transport: way})
			client := jsonrpc.New(upstream.NewPool("chain", node)).Proving("chain", chainProof(&proofs))
			var name string
			must.Do(t, client.Call(t.Context(), "web3_name", &name))
			useOther := sync.OnceFunc(func() {
				go func() {
					defer close(finished)
					var name string
					if err := client.Call(t.Context(), "web3_slow", &name); err != nil {
						t.Error(err)
					}
				}()
				<-received
			})
			ctx := t.Context()
			if beginsFirst {
				useOther()
			} else {
				ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: func(string) { useOther() }})
			}
			if err := client.Call(ctx, "web3_name", &name); err != nil || requests.Load() != 3 || proofs.Load() != 1 {
				t.Errorf("Call = %v, %d requests, %d proofs, want 3 and 1", err, requests.Load(), proofs.Load())
			}
		})
	}
}

func TestProofsGoAloneWhereBatchesAreRefused(t *testing.T) {
	var requests, proofs atomic.Int64
	one := ofChain("0x1", &requests)
	single := func(r *http.Request) (*http.Response, error) {
		if asked, err := rpctest.Read(r); err != nil || asked.IsBatch {
			requests.Add(1)
			return pooltest.Answer(400, ""), err
		}
		return one(r)
	}
	client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "node", single))).Proving("chain", chainProof(&proofs))
	var name string
	for range 2 {
		if err := client.Call(t.Context(), "web3_name", &name); err != nil || name != "from 0x1" {
			t.Fatalf("Call = %q, %v", name, err)
		}
	}
	if requests.Load() != 4 { // the batch, the proof and two calls
		t.Errorf("%d requests, want 4", requests.Load())
	}
}
