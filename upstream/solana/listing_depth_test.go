package solana

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestListsOfOldTransactionsAreAskedOfWhoKeepsThem reads two pages of a program's transactions, long ago, beside an
// endpoint that keeps a thousand blocks.
func TestListsOfOldTransactionsAreAskedOfWhoKeepsThem(t *testing.T) {
	const from, to, newest = 5_000, 6_000, 1_000_000
	known, _ := chain.Documented().Chain(chain.Solana)
	var mu sync.Mutex
	listed := map[string]int{} // by endpoint
	var endpoints []*upstream.Endpoint
	for _, name := range []string{"recent", "archive"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			answerAll(w, r, func(method string, params []json.RawMessage) string {
				switch method {
				case "getGenesisHash":
					return fmt.Sprintf("%q", known.Genesis.Format(chain.SVM))
				case "getBlock":
					return fmt.Sprintf(`{"blockhash":%q,"previousBlockhash":%q,"parentSlot":1,"blockTime":1}`,
						known.Genesis.Format(chain.SVM), known.Genesis.Format(chain.SVM))
				}
				listed[name]++
				if strings.Contains(string(params[1]), `"before"`) {
					return "[]"
				}
				return pageAt(from+1, signaturesAtOnce)
			})
		}))
		t.Cleanup(server.Close)
		e, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: name, URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		endpoints = append(endpoints, e)
	}
	rpc := jsonrpc.New(upstream.NewPool("solana", endpoints...))
	rpc.Capabilities("recent").Recall(jsonrpc.Limits{Depths: map[string]uint64{"blocks": 1000}}, time.Now())
	c := New(known, rpc)
	c.newest.Store(newest)
	list := &listing{program: c.programs[0]}
	if err := c.readPages(t.Context(), c.rpc, []*listing{list}, from, to); err != nil || len(list.found) != signaturesAtOnce {
		t.Fatalf("%d transactions, %v", len(list.found), err)
	}
	if listed["recent"] != 0 || listed["archive"] != 2 {
		t.Errorf("lists were asked of %v, want two of the one that keeps these blocks", listed)
	}
}

// answerAll answers a call or a batch of them.
func answerAll(w http.ResponseWriter, r *http.Request, answer func(method string, params []json.RawMessage) string) {
	type rpcCall struct {
		ID     json.RawMessage
		Method string
		Params []json.RawMessage
	}
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	say := func(c rpcCall) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, answer(c.Method, c.Params))
	}
	var one rpcCall
	if json.Unmarshal(raw, &one) == nil {
		fmt.Fprint(w, say(one))
		return
	}
	var several []rpcCall
	if err := json.Unmarshal(raw, &several); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answers := make([]string, len(several))
	for i, c := range several {
		answers[i] = say(c)
	}
	fmt.Fprintf(w, "[%s]", strings.Join(answers, ","))
}

// pageAt lists so many transactions of one slot.
func pageAt(slot uint64, count int) string {
	all := make([]string, count)
	for i := range all {
		raw := binary.BigEndian.AppendUint64(bytes.Repeat([]byte{7}, 56), uint64(i))
		all[i] = fmt.Sprintf(`{"signature":%q,"slot":%d,"err":null,"blockTime":1,"confirmationStatus":"finalized"}`,
			chain.NewTxHash(raw).Format(chain.SVM), slot)
	}
	return "[" + strings.Join(all, ",") + "]"
}
