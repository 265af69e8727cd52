package behaviour_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// patience is how long tests wait for a hanging endpoint.
const patience = 300 * time.Millisecond

// TestTheBookIsReadAsItMeans plays each case to a client, on its own and next to an endpoint that answers. A case with
// an unknown status is played with each status that providers use.
func TestTheBookIsReadAsItMeans(t *testing.T) {
	t.Parallel()
	for _, each := range Book() {
		statuses := []int{each.Answer.Status}
		if each.Answer.Status == 0 && !each.Answer.Hangs {
			statuses = []int{http.StatusOK, http.StatusBadRequest, http.StatusInternalServerError}
		}
		for _, status := range statuses {
			each.Answer.Status = status
			t.Run(fmt.Sprintf("%s/%d", each.ID, status), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { checkAlone(t, each) })
				synctest.Test(t, func(t *testing.T) { checkBesideHealthy(t, each) })
			})
		}
	}
}

// calls returns the question as calls whose outs accept any result.
func calls(q Question) []*jsonrpc.Call {
	made := make([]*jsonrpc.Call, max(q.Calls, 1))
	for i := range made {
		made[i] = &jsonrpc.Call{Method: q.Method, Params: []any{i}, Out: new(any)}
		made[i].Reach = jsonrpc.Reach{Blocks: q.Blocks, Depth: q.Depth, Tag: q.Tag, Fields: strings.Fields(q.Field)}
		if q.Depth > 0 {
			made[i].Reach.Oldest = 1
			made[i].Reach.State = q.Method == "eth_call"
		}
	}
	return made
}

func endpoint(t *testing.T, name string, handler http.Handler) *upstream.Endpoint {
	t.Helper()
	timeout := 10 * time.Second
	if name == "hanging" {
		timeout = patience
	}
	return pooltest.Endpoint(t, name, pooltest.Near(handler), upstream.EndpointOptions{Timeout: timeout})
}

// played returns an endpoint that behaves as the case describes.
func played(t *testing.T, c Case) (*upstream.Endpoint, *Player) {
	t.Helper()
	player := &Player{of: c}
	var handler http.Handler = player
	name := "odd"
	switch {
	case c.Answer.Hangs:
		name = "hanging"
	case c.Means == "batch limit":
		handler = answeringSingles(player)
	}
	return endpoint(t, name, handler), player
}

// answeringSingles passes batches to another handler and answers single calls itself.
func answeringSingles(batches http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked, err := rpctest.Read(r); err != nil || asked.IsBatch {
			batches.ServeHTTP(w, r)
			return
		}
		answerAll.ServeHTTP(w, r)
	})
}

// checkAlone calls the endpoint on its own: the error has the right meaning, and the client has learned from it.
func checkAlone(t *testing.T, c Case) {
	t.Helper()
	odd, player := played(t, c)
	client := jsonrpc.New(upstream.NewPool("chain", odd))
	asked := calls(c.Question)
	_ = client.Batch(t.Context(), asked...) // each call has its error
	failed := asked[len(asked)-1].Err
	if c.Means == "false claim" {
		if failed != nil {
			t.Errorf("alone: %v, want a result, which the chain's own checks judge", failed)
		}
		return
	}
	if c.Means == "batch limit" {
		if failed != nil {
			t.Errorf("alone: %v, want single calls", failed)
		}
		checkLearned(t, c, client.Capabilities(odd.Name()), nil)
		return
	}
	if failed == nil {
		t.Fatal("alone: no error")
	}
	if c.Answer.Hangs {
		if upstream.ClassOf(failed) != upstream.Timeout {
			t.Errorf("alone: %v, want a timeout", failed)
		}
		return
	}
	if isFinal := upstream.ClassOf(failed) == 0; isFinal != isSame(c) {
		t.Errorf("alone: %v is the same everywhere: %v, want %v", failed, isFinal, isSame(c))
	}
	if meaning, told := meant(failed); told && string(meaning) != c.Means && !(c.Means == "unclear" && c.Answer.Status >= 500) {
		t.Errorf("alone: %v means %s, want %s", failed, meaning, c.Means)
	}
	checkLearned(t, c, client.Capabilities(odd.Name()), failed)
	checkPause(t, c, client, player)
}

// isSame reports whether every endpoint would say the same: the contract's answer, or an error in the question.
func isSame(c Case) bool { return jsonrpc.Meaning(c.Means).Class() == jsonrpc.Final }

func meant(err error) (jsonrpc.Meaning, bool) {
	said, is := errors.AsType[*jsonrpc.Error](err)
	if !is {
		return jsonrpc.Unclear, false
	}
	return said.Meaning(), true
}

func checkLearned(t *testing.T, c Case, known *jsonrpc.Capabilities, failed error) {
	t.Helper()
	limits := known.Known()
	learns := Learns{}
	if c.Learns != nil {
		learns = *c.Learns
	}
	if c.Means == "batch limit" && known.Batch() >= uint64(c.Question.Calls) {
		t.Errorf("alone: %d calls are made at once after %d were refused", known.Batch(), c.Question.Calls)
	}
	if c.Means == "range limit" && known.Span() >= c.Question.Blocks {
		t.Errorf("alone: %d blocks are searched at once after %d were refused", known.Span(), c.Question.Blocks)
	}
	if c.Means == "method missing" && !strings.Contains(strings.Join(limits.Lacks, " "), c.Question.Method) {
		t.Errorf("alone: %v is lacking, want %s", limits.Lacks, c.Question.Method)
	}
	if want := c.Question.Method + " " + c.Question.Field; c.Means == "field missing" && !slices.Contains(limits.Lacks, want) {
		t.Errorf("alone: %v is lacking, want %s", limits.Lacks, want)
	}
	if c.Means == "pruned" && len(limits.Depths) == 0 {
		t.Errorf("alone: nothing is known of how deep the endpoint reaches")
	}
	if c.Means == "skipped" && len(limits.Depths) > 0 {
		t.Errorf("alone: %v is the depth that is known for a slot that may have no block", limits.Depths)
	}
	if c.Means == "pruned" && limits.Span > 0 {
		t.Errorf("alone: searches are narrowed to %d blocks for what is not kept", limits.Span)
	}
	said, is := errors.AsType[*jsonrpc.Error](failed)
	if !is {
		return
	}
	if wait, _ := said.Wait(); learns.Wait > 0 && wait.Seconds() != learns.Wait {
		t.Errorf("alone: asked to wait %v, want %v s", wait, learns.Wait)
	}
}

// checkPause retries immediately: an endpoint that limits us is left alone for a moment or for as long as it requests,
// one that denies us access for at least a minute.
func checkPause(t *testing.T, c Case, client *jsonrpc.Client, player *Player) {
	t.Helper()
	before := player.asked.Load()
	again := t.Context()
	isLeftAlone := slices.Contains([]string{"rate limit", "quota spent", "key refused"}, c.Means)
	if isLeftAlone {
		hurried, cancel := context.WithTimeout(again, patience)
		defer cancel()
		again = hurried
	}
	asked := calls(c.Question)
	_ = client.Batch(again, asked...) // each call has its error
	if isAsked := player.asked.Load() != before; isAsked == isLeftAlone {
		t.Errorf("alone: asked again %v, want %v", isAsked, !isLeftAlone)
	}
	if !isLeftAlone {
		return
	}
	isClosed := upstream.ClassOf(asked[0].Err) == upstream.Unusable
	if isClosed != (c.Means != "rate limit") {
		t.Errorf("alone: closed to us %v by %v", isClosed, asked[0].Err)
	}
	if c.Learns == nil || !c.Learns.Pace {
		return
	}
	_ = client.Batch(t.Context(), &jsonrpc.Call{Method: "web3_clientVersion"}) // an arbitrary other method
	if player.asked.Load() == before {
		t.Error("alone: other methods are not asked either")
	}
}

// checkBesideHealthy calls the endpoint first and a healthy one second: no question fails, and the endpoint is not
// asked again for answers that it is known to lack. Errors that are the same everywhere are not retried elsewhere.
func checkBesideHealthy(t *testing.T, c Case) {
	t.Helper()
	if c.Means == "false claim" {
		return
	}
	odd, player := played(t, c)
	client := jsonrpc.New(upstream.NewPool("chain", odd, endpoint(t, "healthy", answerAll)))
	isAskedAgain := slices.Contains([]string{"unclear", "overloaded", "not yet known", "result limit", "skipped"}, c.Means)
	isRight := isAskedAgain
	for range 2 {
		before := player.asked.Load()
		asked := calls(c.Question)
		if err := client.Batch(t.Context(), asked...); err != nil {
			t.Errorf("beside a healthy endpoint: %v", err)
		}
		for _, call := range asked {
			isWord := call.Err != nil && call.By == "odd"
			isRight = isRight || isSame(c) && isWord
			if (call.Err != nil || call.By != "healthy") && (!isSame(c) || !isWord) {
				t.Errorf("beside a healthy endpoint: %v by %q", call.Err, call.By)
			}
		}
		isRight = isRight || !isSame(c) && player.asked.Load() == before
	}
	switch {
	case isRight:
	case isSame(c):
		t.Error("beside a healthy endpoint: the first endpoint's word is not taken")
	default:
		t.Error("beside a healthy endpoint: asked again and again what it is known not to answer")
	}
}

// answerAll answers any call with its first parameter.
var answerAll = rpctest.Handler(func(c rpctest.Call) string { return `"result":` + string(c.Params[0]) })
