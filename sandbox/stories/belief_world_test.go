package stories_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// liedWorld runs one course at a time, with lying endpoints in front of Solana, and of TRON and an EVM chain.
type liedWorld struct {
	*sandbox.World
	lanes  map[bool]*lane            // true: Solana; false: the others
	wanted map[string]map[string]any // expected records by path
}

func startLied(t *testing.T, seed int) *liedWorld {
	t.Helper()
	w := &liedWorld{World: sandboxtest.Start(t, sandbox.Options{}), lanes: map[bool]*lane{}}
	for _, ofSolana := range []bool{false, true} {
		w.lanes[ofSolana] = &lane{lying: map[uint64]string{}, honest: map[uint64]string{}}
	}
	solana := w.lanes[true]
	solana.lying[solanaID] = seededProxy(t, "solliar.mjs", w.Solana().RPC, seed)
	solana.honest[solanaID] = lyingProxy(t, w.Solana().RPC, slower)
	for _, c := range w.facts(t).Chains {
		if others := w.lanes[false]; c.ID == tronID || c.ID == 8453 {
			others.lying[c.ID], others.honest[c.ID] = seededProxy(t, "liar.mjs", c.RPC, seed), lyingProxy(t, c.RPC, slower)
		}
	}
	w.settle(t)
	return w
}

func (w *liedWorld) facts(t *testing.T) worldJSON { return front{world: w.World}.facts(t) }

// control makes a control call.
func (w *liedWorld) control(t *testing.T, call string, body map[string]any) (seen struct{ OrderID string }) {
	t.Helper()
	text := must.Get(json.Marshal(body))(t)
	response, answer := ask(t, http.MethodPost, w.URL()+"/sandbox/"+call, string(text))
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", call, text, answer)
	}
	_ = json.Unmarshal(answer, &seen) // that of an order names it
	return seen
}

// settle makes everything that happened final, and reads the expected records through honest endpoints.
func (w *liedWorld) settle(t *testing.T) {
	t.Helper()
	for _, l := range w.lanes {
		for id := range l.lying {
			w.control(t, "mine", map[string]any{"chainId": id, "blocks": 100})
		}
	}
	honest, orders := inFrontOf(t, w.World), w.facts(t).Orders
	w.wanted = map[string]map[string]any{}
	for _, o := range orders {
		for index := 0; ; index++ {
			path := fmt.Sprintf("/api/Orders/creationTxHash/%s?index=%d", o.CreationTxHash, index)
			response, body := ask(t, http.MethodGet, honest.url+path, "")
			for looks := mostLooks; response.StatusCode == http.StatusServiceUnavailable && looks > 0; looks-- { // not level yet
				<-time.After(betweenLooks)
				response, body = ask(t, http.MethodGet, honest.url+path, "")
			}
			if response.StatusCode == http.StatusNotFound && index > 0 {
				break
			}
			var record map[string]any
			decoder := json.NewDecoder(bytes.NewReader(body))
			decoder.UseNumber()
			if err := decoder.Decode(&record); err != nil || response.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", path, response.StatusCode, body)
			}
			w.wanted[path] = record
		}
	}
	if len(w.wanted) != len(orders) {
		t.Fatalf("%d orders by their creations, want %d", len(w.wanted), len(orders))
	}
}

// live creates orders between the lied-about chains and another, and takes each further.
func (w *liedWorld) live(t *testing.T, l *lane) {
	t.Helper()
	const other = 137
	for steps := range 3 {
		for id := range l.lying {
			for _, way := range [][2]uint64{{id, other}, {other, id}} {
				o := w.control(t, "create", map[string]any{"chainId": way[0], "takeChainId": way[1], "giveAmount": "0.5", "takeAmount": "0.4"})
				for _, call := range []string{"fulfil", "unlock", "claim"}[:max(steps*2-1, 0)] {
					w.control(t, call, map[string]any{"orderId": o.OrderID})
				}
			}
		}
	}
}

// meet runs a course over a lied-about world.
func (w *liedWorld) meet(t *testing.T, how, rule string, isBeside, ofSolana bool) {
	l := w.lanes[ofSolana]
	l.lie(t, rule)
	c := configOf(t, w.World)
	if how == "cold" {
		c.Index.Lookback = 1
	}
	l.place(&c, isBeside)
	isSingle := oneWord.MatchString(map[bool]string{true: "Solana/", false: "TRON/"}[ofSolana] + rule)
	course := course{isBeside: isBeside, isCold: how == "cold", isSingle: isSingle, config: c}
	if !ofSolana {
		for lie := range strings.SplitSeq(rule, "+") {
			course.limit = cmp.Or(course.limit, unknowable["TRON/"+lie])
		}
	}
	if how == "tip" {
		course.start = func(t *testing.T) {
			w.live(t, l)
			w.settle(t)
		}
	}
	course.judge = func(t *testing.T, url string) (v verdict) {
		last := steps{}
		for _, want := range w.wanted {
			for id, block := range l.stepsOf(want) {
				last[id] = max(last[id], block)
			}
		}
		for path, want := range w.wanted {
			newest := l.stepsOf(want)
			for id := range patchedOn(want) { // in a block that the record does not name
				newest[id] = max(newest[id], last[id])
			}
			v.judge(t, url+path, want, newest)
		}
		return v
	}
	course.run(t)
}

// patchedOn returns the chains whose events changed an order's amounts.
func patchedOn(record map[string]any) steps {
	on := steps{}
	for _, name := range []string{"giveOfferWithMetadata", "takeOfferWithMetadata"} {
		offer := record[name].(map[string]any)
		if !reflect.DeepEqual(offer["amount"], offer["finalAmount"]) {
			on[fmt.Sprint(offer["chainId"].(map[string]any)["stringValue"])] = 0
		}
	}
	return on
}

// TestOneWordIsNotBelievedOfAWorld is TestOneWordIsNotBelieved for TRON with an EVM chain, and for Solana.
func TestOneWordIsNotBelievedOfAWorld(t *testing.T) {
	t.Parallel()
	beliefs := readBeliefs(t)
	if beliefs.of == 0 {
		t.Skip("two worlds behind lying endpoints: CROSSGATE_BELIEF=1 runs it, and make soak does")
	}
	for seed := 1; seed <= beliefs.seeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			const worlds = 2
			free := make(chan *liedWorld, worlds)
			for range worlds {
				free <- startLied(t, seed)
			}
			meet := func(how, rule string, isBeside, ofSolana bool) {
				family := map[bool]string{true: "Solana", false: "TRON"}[ofSolana]
				name := fmt.Sprintf("%s/%s/%s/beside=%t", family, how, rule, isBeside)
				if !beliefs.have(seed, name) {
					return
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					w := <-free
					t.Cleanup(func() { free <- w })
					w.meet(t, how, rule, isBeside, ofSolana)
				})
			}
			for _, how := range []string{"ranges", "tip", "cold"} {
				for _, isBeside := range []bool{true, false} {
					for _, rule := range slices.Concat(solanaRules, together(seed, solanaCombined, solanaRules)) {
						meet(how, rule, isBeside, true)
					}
					for _, rule := range slices.Concat(rules, together(seed, combined, rules)) {
						meet(how, rule, isBeside, false)
					}
				}
			}
		})
	}
}
