package stories_test

import (
	"bytes"
	"encoding/json"
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
	honest, wanted := inFrontOf(t, world), map[string]map[string]any{}
	for _, o := range told.Orders {
		for index := 0; ; index++ {
			path := fmt.Sprintf("/api/Orders/creationTxHash/%s?index=%d", o.CreationTxHash, index)
			response, body := ask(t, http.MethodGet, honest.url+path, "")
			if response.StatusCode == http.StatusNotFound && index > 0 {
				break
			}
			var record map[string]any
			decoder := json.NewDecoder(bytes.NewReader(body))
			decoder.UseNumber()
			if err := decoder.Decode(&record); err != nil || response.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", path, response.StatusCode, body)
			}
			wanted[path] = record
		}
	}
	if len(wanted) != len(told.Orders) {
		t.Fatalf("%d orders by their creations, want %d", len(wanted), len(told.Orders))
	}
	judge := func(t *testing.T, url string) (v verdict) {
		for path, want := range wanted {
			v.judge(t, url+path, want, stepsOf(want))
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
			// Not whole: the world's other chains have one endpoint each.
			course{isBeside: isBeside, isCold: how == "cold", config: c, judge: judge}.run(t)
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
