package evm_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/rpctest"
	"crossgate/order"
)

func TestHead(t *testing.T) {
	n := newNode(1000)
	c := n.serve(t, testChain)
	got, err := c.Head(t.Context())
	if err != nil || got.Latest.Number != 1000 || got.Latest.Time != n.blockTime(1000) || got.Finalized != 980 {
		t.Errorf("Head() = %+v, %v, want block 1000, final up to 980", got, err)
	}
	if trips := n.trips(); trips != 1 {
		t.Errorf("Head() took %d round trips, want 1", trips)
	}
}

func TestHeadWithoutFinalizedTag(t *testing.T) {
	for name, answer := range map[string]string{"refused": rpctest.Fault(-32602, "invalid argument 0: hex string without 0x prefix"), "null": `"result":null`} {
		t.Run(name, func(t *testing.T) {
			n := newNode(1000)
			n.tagless = answer
			c := n.serve(t, testChain)
			for range 3 {
				got, err := c.Head(t.Context())
				if err != nil || got.Finalized != 1000-testChain.Finality {
					t.Fatalf("Head() = %+v, %v, want %d final", got, err, 1000-testChain.Finality)
				}
			}
			if asked := n.methods["eth_getBlockByNumber"]; asked != 4 {
				t.Errorf("%d blocks asked for, want the unknown tag once", asked)
			}
		})
	}
}

// TestWhatIsFinalStaysWhereNoNodeSaysIt lets a node that knew the finalized block fail or lose it: finality stays at
// least as far behind the newest block as before.
func TestWhatIsFinalStaysWhereNoNodeSaysIt(t *testing.T) {
	for name, answer := range map[string]string{"failing": rpctest.Fault(-32603, "internal error"), "refused": rpctest.Fault(-32602, "unknown block"), "null": `"result":null`} {
		t.Run(name, func(t *testing.T) {
			n := newNode(1000)
			n.finalized = 900
			c := n.serve(t, testChain)
			for i := range 12 {
				if i == 2 {
					n.tagless, n.head = answer, 1010
				}
				if got, err := c.Head(t.Context()); err != nil || got.Finalized > n.head-100 || got.Finalized < n.finalized {
					t.Fatalf("Head() = %+v, %v, want %d to %d final", got, err, n.finalized, n.head-100)
				}
			}
		})
	}
}

// TestTheFinalBlockIsAskedOfWhoKnowsIt uses an endpoint without a finalized block next to one that has it. No time
// passes, so that no answer loses a race to a hedge.
func TestTheFinalBlockIsAskedOfWhoKnowsIt(t *testing.T) {
	for name, answer := range map[string]string{"refused": rpctest.Fault(-32602, "unknown block"), "null": `"result":null`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tagless, other := newNode(1000), newNode(1000)
				tagless.tagless = answer
				c := serveAll(t, testChain, tagless, other)
				for range 200 { // a fourth of which request it
					got, err := c.Head(t.Context())
					if err != nil || got.Finalized != other.finalized {
						t.Fatalf("Head() = %+v, %v, want %d final", got, err, other.finalized)
					}
				}
				if tagless.taggedCalls != 1 {
					t.Errorf("asked for a finalized block %d times where there is none, want once", tagless.taggedCalls)
				}
			})
		})
	}
}

// TestANodeWithoutANewestBlockIsAskedAgainSoon uses a node that answers null, as one does while starting up.
func TestANodeWithoutANewestBlockIsAskedAgainSoon(t *testing.T) {
	n, other := newNode(1000), newNode(1000)
	n.answers["eth_getBlockByNumber"] = `"result":null`
	c := n.serve(t, testChain)
	_, err := c.Head(t.Context())
	asks, is := errors.AsType[interface {
		error
		RetryIn() time.Duration
	}](err)
	if !is || asks.RetryIn() <= 0 || asks.RetryIn() > time.Second {
		t.Errorf("Head() = %v, want to be asked again within a second", err)
	}
	delete(n.answers, "eth_getBlockByNumber")
	if got, err := c.Head(t.Context()); err != nil || got.Latest.Number != 1000 {
		t.Errorf("Head() = %+v, %v once there is a block", got, err)
	}
	n.answers["eth_getBlockByNumber"] = `"result":null`
	if got, err := serveAll(t, testChain, n, other).Head(t.Context()); err != nil || got.Latest.Number != 1000 {
		t.Errorf("Head() = %+v, %v, want that of the other node", got, err)
	}
}

func TestBlock(t *testing.T) {
	c := newNode(1000).serve(t, testChain)
	want, _ := chain.ParseHash(blockHash(77))
	if got, err := c.Block(t.Context(), 77); err != nil || got.Number != 77 || got.Hash != want {
		t.Errorf("Block(77) = %+v, %v", got, err)
	}
	if _, err := c.Block(t.Context(), 1001); !errors.Is(err, order.ErrNotFound) {
		t.Errorf("Block(1001) = %v, want ErrNotFound", err)
	}
}

// A wrong URL in the configuration must never become a wrong answer.
func TestEndpointsOfAnotherChainAreRefused(t *testing.T) {
	wrong := newNode(1000)
	wrong.chainID = 1
	if _, err := wrong.serve(t, testChain).Head(t.Context()); err == nil || !strings.Contains(err.Error(), "serves chain 1, not 8453") {
		t.Errorf("Head() of another chain = %v, want a refusal", err)
	}
	right := newNode(2000)
	got, err := serveAll(t, testChain, wrong, right).Head(t.Context())
	if err != nil || got.Latest.Number != 2000 {
		t.Errorf("Head() = %+v, %v, want that of the right chain", got, err)
	}
}
