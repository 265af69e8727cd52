package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/jsonrpc/behaviour"
)

// longestRecorded bounds the body of a response that is recorded, in bytes.
const longestRecorded = 64 << 10

// Record asks one endpoint of an EVM chain what a gateway would, at its limits and beyond them, and returns what it
// said: about twenty requests, one after the other. Keys of the endpoint's URL and headers are taken out.
func Record(ctx context.Context, c config.Config, id chain.ID, name string) ([]behaviour.Case, error) {
	at := slices.IndexFunc(c.Chains, func(each config.Chain) bool { return each.ID == id })
	if at < 0 {
		return nil, fmt.Errorf("chain %d is not configured", id)
	}
	named := slices.IndexFunc(c.Chains[at].Endpoints, func(each config.Endpoint) bool { return each.Name == name })
	if named < 0 {
		return nil, fmt.Errorf("chain %d has no endpoint %q", id, name)
	}
	known, _ := c.Registry().Chain(id)
	if known.Family == chain.SVM {
		return nil, fmt.Errorf("chain %d: only endpoints of EVM chains and TRON are recorded", id)
	}
	e, err := newEndpoint(c.Chains[at].ID.String(), c.Chains[at].Endpoints[named], c.Health.LongestBan, nil)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	r := recorder{endpoint: e, chain: known}
	if err := r.ask(ctx, behaviour.Question{Method: "eth_blockNumber", Params: json.RawMessage("[]")}); err != nil {
		return nil, err
	}
	for _, question := range r.questions() {
		if err := r.ask(ctx, question); err != nil {
			return nil, err
		}
	}
	return r.cases, nil
}

// recorder writes down what an endpoint says.
type recorder struct {
	endpoint *upstream.Endpoint
	chain    chain.Chain
	head     uint64 // zero: it did not say
	cases    []behaviour.Case
}

// questions are what providers differ in: tags, methods, spans, batches, and the depths of logs and of states.
func (r *recorder) questions() []behaviour.Question {
	contract := r.chain.Contracts.DlnSource.String()
	list := func(parameters ...any) json.RawMessage {
		text, _ := json.Marshal(parameters) // of texts and maps of texts
		return text
	}
	searchOf := func(contracts any, from, to uint64) json.RawMessage {
		return list(map[string]any{"fromBlock": hexadecimal(from), "toBlock": hexadecimal(to), "address": contracts, "topics": [][]string{{"0x" + strings.Repeat("00", 32)}}})
	}
	search := func(from, to uint64) json.RawMessage { return searchOf(contract, from, to) }
	questions := []behaviour.Question{
		{Method: "eth_getBlockByNumber", Params: list("finalized", false), Tag: "finalized"},
		{Method: "eth_getBlockReceipts", Params: list("latest")},
		{Method: "eth_feeHistory", Params: list("0x4", "latest", []int{50})},
		{Method: "eth_simulateV1", Params: list(map[string]any{"blockStateCalls": []any{}}, "latest")},
	}
	for _, calls := range []int{2, 11, 51} {
		questions = append(questions, behaviour.Question{Method: "eth_chainId", Params: list(), Calls: calls})
	}
	if both := []string{contract, r.chain.Contracts.DlnDestination.String()}; r.head > 0 {
		questions = append(questions, behaviour.Question{
			Method: "eth_getLogs", Params: searchOf(both, r.head, r.head), Blocks: 1, Field: jsonrpc.Addresses,
		})
	}
	for _, blocks := range []uint64{1, 101, 1001, 5000, 10_001, 50_001} {
		if r.head > blocks {
			questions = append(questions, behaviour.Question{Method: "eth_getLogs", Params: search(r.head-blocks+1, r.head), Blocks: blocks})
		}
	}
	for _, depth := range []uint64{100, 1000, 10_001, 1_000_000} {
		if r.head > depth {
			questions = append(questions,
				behaviour.Question{Method: "eth_getLogs", Params: search(r.head-depth, r.head-depth), Blocks: 1, Depth: depth},
				behaviour.Question{Method: "eth_getBalance", Params: list(contract, hexadecimal(r.head-depth)), Depth: depth})
		}
	}
	return questions
}

// ask asks a question and writes the answer down, unless it is a very long one.
func (r *recorder) ask(ctx context.Context, q behaviour.Question) error {
	calls := make([]string, max(q.Calls, 1))
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i+1, q.Method, q.Params)
	}
	body := calls[0]
	if len(calls) > 1 {
		body = "[" + strings.Join(calls, ",") + "]"
	}
	kept := behaviour.Case{
		ID: fmt.Sprintf("%s-%d", q.Method, len(r.cases)+1), Provider: r.endpoint.Name(), Chains: []string{strconv.FormatUint(r.chain.Native, 10)},
		Question: q, Seen: time.Now().UTC().Format(time.DateOnly),
	}
	response, err := r.endpoint.Do(ctx, upstream.Request{Body: []byte(body), Kind: q.Method, AnyStatus: true})
	switch class := upstream.ClassOf(err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case class == upstream.Timeout:
		kept.Answer, kept.Means = behaviour.Recorded{Hangs: true}, string(jsonrpc.Overloaded)
	case err != nil:
		return err
	case len(response.Body) > longestRecorded:
		return nil
	default:
		kept.Means = jsonrpc.Judge(response, callOf(q), len(calls))
		kept.Answer = behaviour.Recorded{Status: response.Status, Body: response.Redact(string(response.Body)), Header: keptHeaders(response)}
	}
	if q.Method == "eth_blockNumber" {
		var said struct{ Result string }
		_ = json.Unmarshal(response.Body, &said) // else nothing can be asked about blocks
		r.head, _ = strconv.ParseUint(strings.TrimPrefix(said.Result, "0x"), 16, 63)
	}
	r.cases = append(r.cases, kept)
	return nil
}

// callOf is what a refusal of a question is read as being about.
func callOf(q behaviour.Question) *jsonrpc.Call {
	asked := &jsonrpc.Call{Method: q.Method}
	if q.Field != "" {
		asked.Reach.Fields = []string{q.Field}
	}
	return asked
}

// keptHeaders are those by which a response says when to ask again.
func keptHeaders(response upstream.Response) map[string]string {
	kept := make(map[string]string)
	for _, name := range []string{"Retry-After", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		if value := response.Header.Get(name); value != "" {
			kept[name] = response.Redact(value)
		}
	}
	return kept
}
