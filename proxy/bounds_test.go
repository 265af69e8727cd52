// The race detector takes ten times the processor's time, and one request after the other has nothing for it.

//go:build !race

package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/store"
)

// mostProcessorTime is the processor time that a request may take, measured for the whole process.
const mostProcessorTime = 500 * time.Millisecond

// TestNothingThatAClientSendsTakesLong fills every parameter of every path, and every member of every body, with as
// much as a request may hold. Refusals must be client errors, in the dialect of the path.
func TestNothingThatAClientSendsTakesLong(t *testing.T) {
	db := must.Get(store.OpenSQLite(t.Context(), t.TempDir()+"/orders.db"))(t)
	t.Cleanup(func() { db.Close() })
	s := newWorld(t).server(t, func(o *parts) {
		o.Orders = query.New(follow.New(db, map[chain.ID]order.Source{}, follow.Options{}), query.Options{})
		o.Feed = newKept(t).Feed
	})
	tried := 0
	for path, item := range document(t).Paths.Map() {
		for method, operation := range item.Operations() {
			for _, each := range hostileRequests(method, path, operation) {
				tried++
				tryHostile(t, s, each)
			}
		}
	}
	good := "&chainId=8453&amount=5&tokenIn=" + usdcText + "&tokenOut=" + wethText
	for page, fields := range map[string][]string{
		"/orders?":                  {"maker", "taker", "mode", "skip", "from", "to", "state", "since", "until"},
		"/search?":                  {"query"},
		"/swap?" + good:             {"chainId", "amount", "tokenIn", "tokenOut", "tokenOutRecipient", "senderAddress", "slippage"},
		"/statistics?":              {"dateFrom", "dateTo"},
		"/locked/" + taker + "?":    {"x"},
		"/order/" + createdTx + "?": {"index"},
		"/swap/" + unknownIs + "?":  {"x"},
	} {
		for _, field := range fields {
			for _, value := range hostileTexts(proxy.LongestURL - 2048) {
				tried++
				tryHostile(t, s, hostile{http.MethodGet, page + "&" + field + "=" + url.QueryEscape(value), "", "page"})
			}
		}
	}
	t.Logf("%d requests", tried)
	if tried < 900 {
		t.Errorf("%d requests were tried, want some 900: the document was not read", tried)
	}
}

// hostile is a request with one part as large as allowed.
type hostile struct{ method, target, body, kind string }

// hostileRequests returns the requests that try each part of an operation. The other parts are the document's examples.
func hostileRequests(method, path string, operation *openapi3.Operation) (all []hostile) {
	fixed, query := path, url.Values{}
	for _, each := range operation.Parameters {
		example := fmt.Sprint(each.Value.Example)
		switch {
		case each.Value.In == openapi3.ParameterInPath:
			fixed = strings.Replace(fixed, "{"+each.Value.Name+"}", example, 1)
		case each.Value.Name == "chainId":
			query.Set("chainId", "1")
		case each.Value.In == openapi3.ParameterInQuery && each.Value.Example != nil:
			query.Set(each.Value.Name, example)
		}
	}
	add := func(path string, query url.Values, body, kind string) {
		all = append(all, hostile{method, path + "?" + query.Encode(), body, kind})
	}
	for _, each := range operation.Parameters {
		for _, value := range hostileTexts(proxy.LongestURL - 2048) {
			switch each.Value.In {
			case openapi3.ParameterInPath:
				spelled := strings.Replace(path, "{"+each.Value.Name+"}", url.PathEscape(value), 1)
				for _, other := range operation.Parameters {
					spelled = strings.Replace(spelled, "{"+other.Value.Name+"}", fmt.Sprint(other.Value.Example), 1)
				}
				add(spelled, query, "", "")
			case openapi3.ParameterInQuery:
				changed := url.Values{each.Value.Name: {value}}
				for name, values := range query {
					if name != each.Value.Name {
						changed[name] = values
					}
				}
				add(fixed, changed, "", "")
			}
		}
		if each.Value.In == openapi3.ParameterInQuery {
			const often = 400
			changed := url.Values{}
			for range often {
				changed[each.Value.Name] = append(changed[each.Value.Name], query.Get(each.Value.Name))
			}
			add(fixed, changed, "", "")
			add(fixed, url.Values{}, changed.Encode(), "application/x-www-form-urlencoded")
		}
	}
	if operation.RequestBody == nil {
		return all
	}
	for name := range operation.RequestBody.Value.Content["application/json"].Schema.Value.Properties {
		for _, value := range hostileJSON(proxy.BodyBytes - 64) {
			add(fixed, url.Values{}, fmt.Sprintf("{%q:%s}", name, value), "application/json")
		}
		members := strings.Repeat(fmt.Sprintf("%q:1,", name), (proxy.BodyBytes-64)/(len(name)+5))
		add(fixed, url.Values{}, "{"+strings.TrimSuffix(members, ",")+"}", "application/json")
	}
	for _, member := range []string{`"%d":[0]`, `"%d":"x"`, `"%d":{"a":{}}`} {
		var members []string
		for i := range (proxy.BodyBytes - 64) / 20 {
			members = append(members, fmt.Sprintf(member, i))
		}
		add(fixed, url.Values{}, "{"+strings.Join(members, ",")+"}", "application/json")
	}
	return all
}

// hostileTexts returns values of at most the given number of bytes when percent-encoded.
func hostileTexts(most int) []string {
	return []string{
		strings.Repeat("1", most), strings.Repeat("z", most), "0x" + strings.Repeat("f", most-2), strings.Repeat("0", most-1) + "1",
		"1e999999999", "-1", "0." + strings.Repeat("0", most-3) + "1", strings.Repeat("%", most/3), strings.Repeat(" ", most), "\x00",
		strings.Repeat("[", most/3), "18446744073709551616", strings.Repeat("1 ", most/2), "9999-12-31T23:59:59Z", "0000-01-01",
	}
}

// hostileJSON returns values of a member.
func hostileJSON(most int) (all []string) {
	for _, text := range hostileTexts(most - 2) {
		all = append(all, strings.ToValidUTF8(fmt.Sprintf("%q", strings.ReplaceAll(text, "\x00", "?")), ""))
	}
	distinct := make([]string, most/8)
	for i := range distinct {
		distinct[i] = fmt.Sprint(1000 + i)
	}
	const address = "0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"
	list := func(value string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(value+",", (most-2)/(len(value)+1)), ",") + "]"
	}
	return append(all, strings.Repeat("9", most), "1e999999", "-1", "0.5", "true", "{}",
		list("1"), list(`"1"`), list(`"Created"`), list(`"NoExtCall"`), list(`"x"`), list("null"), list("{}"), "["+strings.Join(distinct, ",")+"]",
		list(`"`+address+`"`), `"`+strings.Repeat(address+" ", most/(len(address)+2))+`"`,
		strings.Repeat("[", most/2)+strings.Repeat("]", most/2), strings.Repeat(`{"a":`, most/7)+"1"+strings.Repeat("}", most/7),
	)
}

func tryHostile(t *testing.T, s *site, h hostile) {
	t.Helper()
	target, err := url.ParseRequestURI(h.target)
	if err != nil {
		t.Fatalf("%.200s: %v", h.target, err)
	}
	request := httptest.NewRequest(h.method, "/", strings.NewReader(h.body))
	request.URL = target
	request.Header.Set("Content-Type", h.kind)
	answer := httptest.NewRecorder()
	before := processorTime(t)
	s.Handler().ServeHTTP(answer, request)
	took := processorTime(t) - before
	raw, _ := io.ReadAll(answer.Body)
	asked := fmt.Sprintf("%s %.200s %.80s (%d bytes)", h.method, h.target, h.body, len(h.body))
	if took > mostProcessorTime {
		t.Errorf("%s took %s of the processor, want at most %s", asked, took, mostProcessorTime)
	}
	const longestRefusal, longestPage = 8 << 10, 256 << 10
	switch isPage := h.kind == "page"; {
	case answer.Code == http.StatusOK:
	case isPage && answer.Code < 500 && len(raw) < longestPage:
	case answer.Code < 400 || answer.Code >= 500:
		t.Errorf("%s = %d %.300s, want a client's error", asked, answer.Code, raw)
	case len(raw) > longestRefusal:
		t.Errorf("%s is refused in %d bytes, want at most %d: %.300s", asked, len(raw), longestRefusal, raw)
	default:
		var e errorBody
		if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&e); err != nil || e.ErrorID == "" || e.Message == "" || e.Message != e.ErrorMessage {
			t.Errorf("%s is refused by %.300s", asked, raw)
		}
	}
}

// processorTime returns what this process has used so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestSubscribersRestInLittle bounds the heap and stack of subscribers that have received an event and wait.
func TestSubscribersRestInLittle(t *testing.T) {
	const subscribers, most = 200, 20_000 // bytes per subscriber
	k := newKept(t)
	defer k.run(t)()
	server := newWorld(t).server(t, func(o *parts) { o.Feed, o.StreamsPerAddress = k.Feed, subscribers })
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = server.Run(ctx, listener) })
	defer running.Wait()
	defer cancel()
	inUse := func() uint64 {
		for range 4 { // each halves a stack that is too large
			runtime.GC()
		}
		samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
		metrics.Read(samples)
		return samples[0].Value.Uint64() + samples[1].Value.Uint64()
	}
	before, all := inUse(), make([]net.Conn, subscribers)
	for i := range all {
		all[i] = must.Get(net.Dial("tcp", listener.Addr().String()))(t)
		defer all[i].Close()
		must.Get(fmt.Fprint(all[i], "GET /v1.0/events HTTP/1.1\r\nHost: crossgate\r\nAccept: text/event-stream\r\n\r\n"))(t)
		awaitText(t, all[i], "retry: 2000\n\n")
	}
	k.tell(t, 1, order.ID{7}, false, created(t, order.ID{7}, createdTx, uint64(time.Now().Unix())).Created.Fact)
	for _, each := range all {
		awaitText(t, each, "event: happened\n")
	}
	if each := (inUse() - before) / subscribers; each > most {
		t.Errorf("each of %d subscribers holds %d bytes, want %d at most", subscribers, each, most)
	}
}

// awaitText reads up to a text, and possibly beyond.
func awaitText(t *testing.T, from net.Conn, text string) {
	t.Helper()
	var came []byte
	for part := make([]byte, 4096); !bytes.Contains(came, []byte(text)); {
		n, err := from.Read(part)
		if came = append(came, part[:n]...); err != nil {
			t.Fatalf("%v after %q", err, came)
		}
	}
}
