package jsonrpc_test

import (
	"context"
	"errors"
	"net/http"
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

// onBranch returns a node of chain 0x1 that has block, or none if empty; anchors counts the requests for it.
func onBranch(block *atomic.Value, anchors *atomic.Int64) pooltest.Transport {
	return node(func(c rpctest.Call) string {
		switch c.Method {
		case "eth_chainId":
			return `"result":"0x1"`
		case "eth_getBlockByNumber":
			anchors.Add(1)
			if has := block.Load().(string); has != "" {
				return `"result":"` + has + `"`
			}
			return `"error":{"code":-32000,"message":"pruned"}`
		}
		return `"result":"from ` + block.Load().(string) + `"`
	})
}

var errBranch = errors.New("of another branch")

func anchorAt(block string) *jsonrpc.Call {
	return jsonrpc.NewCall(new(string), func(got string) error {
		if got != block {
			return errBranch
		}
		return nil
	}, "eth_getBlockByNumber", "0x7", false)
}

// branches returns a client of two nodes with the given blocks.
func branches(t *testing.T, first, second string) (c *jsonrpc.Client, of [2]*atomic.Value, anchors *atomic.Int64) {
	t.Helper()
	anchors = new(atomic.Int64)
	var ends []*upstream.Endpoint
	for i, block := range []string{first, second} {
		of[i] = new(atomic.Value)
		of[i].Store(block)
		ends = append(ends, pooltest.Endpoint(t, []string{"first", "second"}[i], onBranch(of[i], anchors)))
	}
	return jsonrpc.New(upstream.NewPool("chain", ends...)).Proving("chain", chainProof(new(atomic.Int64))), of, anchors
}

func TestEndpointWithAnotherBlockThanTheAnchorIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, of, anchors := branches(t, "a", "b")
		name := func() (got string) {
			if err := client.Call(t.Context(), "web3_name", &got); err != nil {
				return err.Error()
			}
			return got
		}
		if got := name(); got != "from a" {
			t.Fatalf("Call = %q without an anchor", got)
		}
		client.Anchor(anchorAt("b"), true)
		for range 10 {
			if got := name(); got != "from b" {
				t.Fatalf("Call = %q, want the answer of the endpoint that has the anchor", got)
			}
		}
		if anchors.Load() != 2 {
			t.Errorf("endpoints were asked for the anchor %d times, want once each", anchors.Load())
		}
		of[1].Store("a") // it switches to the other branch
		<-time.After(15 * time.Minute)
		if err := client.Call(t.Context(), "web3_name", new(string)); !errors.Is(err, errBranch) {
			t.Errorf("Call = %v, want no endpoint to be left", err)
		}
		client.Anchor(nil, true)
		<-time.After(30 * time.Minute)
		if got := name(); got != "from a" {
			t.Errorf("Call = %q when there is no anchor any more", got)
		}
	})
}

func TestEndpointThatDoesNotTellOfTheAnchorIsBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _, anchors := branches(t, "", "b")
		client.Anchor(anchorAt("b"), true)
		for range 4 {
			var got string
			if err := client.Call(t.Context(), "web3_name", &got); err != nil || got != "from " {
				t.Errorf("Call = %q, %v, want the answer of an endpoint that has pruned the anchor", got, err)
			}
			<-time.After(time.Second)
		}
		if anchors.Load() != 1 {
			t.Errorf("asked for the anchor %d times within a few seconds, want once", anchors.Load())
		}
	})
}

func TestSuspendedClientAsksEndpointsAloneOnly(t *testing.T) {
	client, _, _ := branches(t, "a", "b")
	cause := errors.New("two branches")
	client.Suspend(cause)
	if err := client.Call(t.Context(), "web3_name", new(string)); !errors.Is(err, cause) || upstream.ClassOf(err) != upstream.Unusable {
		t.Errorf("Call = %v, want why it is suspended", err)
	}
	told := jsonrpc.Alone(t.Context(), client, 2, func(ctx context.Context, alone *jsonrpc.Client) (got string, err error) {
		err = alone.Call(ctx, "web3_name", &got)
		return got, err
	})
	if told["first"] != "from a" || told["second"] != "from b" {
		t.Errorf("Alone = %v", told)
	}
	client.Suspend(nil)
	if err := client.Call(t.Context(), "web3_name", new(string)); err != nil {
		t.Errorf("Call = %v", err)
	}
}

// TestUnprovenCallsAreNotJoined asks every endpoint, after proofs, for what one of another chain is being asked without.
func TestUnprovenCallsAreNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := map[string]chan struct{}{"0x1": make(chan struct{}), "0x2": make(chan struct{})}
		close(hold["0x1"])
		of := func(id string) pooltest.Transport {
			return node(func(c rpctest.Call) string {
				if c.Method != "eth_chainId" {
					<-hold[id]
				}
				return `"result":"` + id + `"`
			})
		}
		client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "own", of("0x1")), pooltest.Endpoint(t, "other", of("0x2")))).Proving("chain", chainProof(new(atomic.Int64)))
		told := make([]map[string]string, 2)
		for i := range told {
			go func() {
				told[i] = jsonrpc.Alone(t.Context(), client, i+1, func(ctx context.Context, alone *jsonrpc.Client) (got string, err error) {
					err = alone.Call(ctx, "web3_name", &got)
					return got, err
				})
			}()
			synctest.Wait()
		}
		close(hold["0x2"])
		synctest.Wait()
		if told[0]["other"] != "0x2" || told[1]["own"] != "0x1" || len(told[1]) != 1 {
			t.Errorf("Alone = %v, want the endpoint of another chain in the first only", told)
		}
	})
}

// TestProofsLeaveSearchesTheirShare searches as rarely as an endpoint's rate allows, so that every proof is due each
// time, each in a request of its own since the endpoint accepts no batches.
func TestProofsLeaveSearchesTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var block atomic.Value
		block.Store("a")
		var anchors atomic.Int64
		alone := func(r *http.Request) (*http.Response, error) {
			if asked, err := rpctest.Read(r); err != nil || asked.IsBatch {
				return pooltest.Answer(200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported"}}`), err
			}
			return onBranch(&block, &anchors)(r)
		}
		slow := pooltest.Endpoint(t, "slow", alone, upstream.EndpointOptions{RequestsPerSecond: 0.5, Burst: 1})
		client := jsonrpc.New(upstream.NewPool("chain", slow)).Proving("chain", chainProof(new(atomic.Int64)))
		must.Do(t, client.Call(t.Context(), "web3_name", new(string)))
		<-time.After(20 * time.Second)
		for range 3 {
			client.Anchor(anchorAt("a"), true)
			must.Do(t, client.Call(upstream.Searching.For(t.Context()), "web3_name", new(string)))
			<-time.After(20 * time.Second)
		}
		if anchors.Load() != 3 {
			t.Errorf("the anchor was shown %d times, want each time", anchors.Load())
		}
	})
}
