package stories_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"crossgate/internal/linktest"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestOneWordIsNotBelievedOfAWorld is TestOneWordIsNotBelieved for TRON with an EVM chain, and for Solana.
func TestOneWordIsNotBelievedOfAWorld(t *testing.T) {
	t.Parallel()
	seeds, isWhole := beliefSeeds(t)
	world := sandboxtest.Start(t, sandbox.Options{})
	chains := map[uint64]string{tronID: "", 8453: "", solanaID: world.Solana().RPC}
	var told worldJSON
	get(t, world.URL()+"/sandbox/world", &told)
	for _, c := range told.Chains {
		if _, isLied := chains[c.ID]; isLied {
			chains[c.ID] = c.RPC
		}
		final := fmt.Sprintf(`{"chainId":%d,"blocks":100}`, c.ID)
		if response, body := ask(t, http.MethodPost, world.URL()+"/sandbox/mine", final); response.StatusCode != http.StatusOK {
			t.Fatalf("mine: %s", body)
		}
	}
	outsider := newOutsider(t, told)
	judge := func(t *testing.T, url string) (v verdict) {
		for _, each := range outsider.orders {
			v.judge(t, fmt.Sprintf("%s/api/Orders/creationTxHash/%s?index=%d", url, each.tx, outsider.indexOf(each)), each.record)
		}
		return v
	}
	const lanes = 2
	free := make(chan map[bool]*lane, lanes) // of Solana, and of the others
	for i := range lanes {
		both := map[bool]*lane{}
		for _, ofSolana := range []bool{false, true} {
			both[ofSolana] = &lane{lying: map[uint64]string{}, honest: map[uint64]string{}}
		}
		for id, rpc := range chains {
			l, seed := both[id == solanaID], fmt.Sprint(i+1)
			if l.honest[id] = lyingProxy(t, rpc, slower); id != solanaID {
				l.lying[id] = lyingProxy(t, rpc, "--seed", seed)
				continue
			}
			address, err := linktest.FreeAddress()
			if err != nil {
				t.Fatal(err)
			}
			startLiar(t, "solliar.mjs", rpc, strings.Split(address, ":")[1], "--seed", seed)
			l.lying[id] = "http://" + address
		}
		free <- both
	}
	meet := func(how, rule string, isBeside, ofSolana bool) {
		name := fmt.Sprintf("%s/%s/beside=%t", how, rule, isBeside)
		if !isWhole && !(ofSolana && met[name]) {
			return
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := <-free
			t.Cleanup(func() { free <- both })
			both[ofSolana].lie(t, rule)
			c := configOf(t, world)
			if how == "cold" {
				c.Index.Lookback = 1
			}
			both[ofSolana].place(&c, isBeside)
			course{isBeside: isBeside, isCold: how == "cold", isWhole: isWhole, config: c, judge: judge}.run(t)
		})
	}
	for range seeds {
		for _, how := range []string{"ranges", "cold"} {
			for _, isBeside := range []bool{true, false} {
				for _, rule := range solanaRules {
					meet(how, rule, isBeside, true)
				}
				for _, rule := range rules {
					meet(how, rule, isBeside, false)
				}
			}
		}
	}
}
