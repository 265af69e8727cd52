package stories_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"crossgate/sandbox/sandboxtest"
)

// TestShadowFindsWhatDiffers has a gateway compare its answers with those of another one, the origin, on the way from
// which a hundred differences are made: each has to be found and classed as what it is. As many answers, and those in
// which nothing has changed but what may, have to be equal.
func TestShadowFindsWhatDiffers(t *testing.T) {
	compared := countingCompared(t)
	world := sandboxtest.Shared(t)
	origin := inFrontOf(t, world)
	var altering atomic.Pointer[alteration]
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		altering.Load().pass(t, origin.url, w, r)
	}))
	t.Cleanup(between.Close)
	front := inFrontOf(t, world, fmt.Sprintf(`passthrough:
  hosts: [{name: origin, endpoints: [{url: %q}]}]
  shadow: {share: 1, paths: [{prefix: /, host: origin}]}`, between.URL))
	var facts worldJSON
	get(t, world.URL()+"/sandbox/world", &facts)

	found := map[string]int{} // so far, by class
	try := func(t *testing.T, class string, q shadowQuestion, alter func(*rand.Rand, any) any, seed uint64) {
		t.Helper()
		altering.Store(&alteration{alter: alter, random: rand.New(rand.NewPCG(seed, 17))})
		if response, body := ask(t, q.method(), front.url+q.path, q.sent); response.StatusCode != http.StatusOK {
			t.Fatalf("%s = %d: %s", q.path, response.StatusCode, body)
		}
		want := maps.Clone(found)
		want[class]++
		var got map[string]int
		eventually(t, func() bool {
			got = compared()
			return sum(got) > sum(found)
		})
		if !maps.Equal(got, want) {
			t.Errorf("seed %d of %s%s came to %v after %v, want %s", seed, q.path, q.sent, got, found, class)
		}
		found = got
	}
	made := 0
	for _, kind := range seeded(facts) {
		t.Run(kind.name, func(t *testing.T) {
			for i := range kind.times {
				q := kind.questions[i%len(kind.questions)]
				try(t, kind.class, q, kind.alter, uint64(i))
				if kind.class != "same" {
					made++
					try(t, "same", q, nil, 0)
				}
			}
		})
	}
	if made != 100 {
		t.Errorf("%d differences were made, want 100", made)
	}
}

// countingCompared has this process measure, until the test ends, and returns what tells how many answers were compared
// since, by class.
func countingCompared(t *testing.T) (count func() map[string]int) {
	t.Helper()
	restoreTelemetry(t)
	reader := metric.NewManualReader()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	return func() map[string]int {
		var measured metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &measured); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, scope := range measured.ScopeMetrics {
			for _, m := range scope.Metrics {
				if sums, is := m.Data.(metricdata.Sum[int64]); is && m.Name == "crossgate.shadow.answers" {
					for _, point := range sums.DataPoints {
						class, _ := point.Attributes.Value("crossgate.outcome")
						counts[class.AsString()] += int(point.Value)
					}
				}
			}
		}
		return counts
	}
}

func sum(counts map[string]int) (all int) {
	for _, n := range counts {
		all += n
	}
	return all
}

// shadowQuestion is a request whose answers are compared.
type shadowQuestion struct{ path, sent string }

func (q shadowQuestion) method() string {
	if q.sent != "" {
		return http.MethodPost
	}
	return http.MethodGet
}

// alteration changes an answer on its way from the origin.
type alteration struct {
	alter  func(*rand.Rand, any) any // nil: it stays; that returns nil: it is not found
	random *rand.Rand
}

func (a *alteration) pass(t *testing.T, origin string, w http.ResponseWriter, r *http.Request) {
	sent, _ := io.ReadAll(r.Body)
	response, body := ask(t, r.Method, origin+r.URL.RequestURI(), string(sent))
	if a.alter != nil && response.StatusCode == http.StatusOK {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Error(err)
		}
		if value = a.alter(a.random, value); value == nil {
			http.NotFound(w, r)
			return
		}
		altered, err := json.Marshal(value)
		if err != nil {
			t.Error(err)
		}
		body = altered
	}
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
}

// seededKind is one kind of difference, made so many times.
type seededKind struct {
	name      string
	class     string
	times     int
	questions []shadowQuestion
	alter     func(*rand.Rand, any) any
}

// settledMembers are those of an order that nothing can change after its creation.
var settledMembers = strings.Fields("orderId makerOrderNonce makerSrc receiverDst givePatchAuthoritySrc orderAuthorityAddressDst allowedTakerDst")

func seeded(facts worldJSON) []seededKind {
	var all, created, later []shadowQuestion
	for _, o := range facts.Orders {
		q := shadowQuestion{"/api/Orders/" + o.OrderID, ""}
		all = append(all, q)
		if o.State == "Created" {
			created = append(created, q)
		} else if slices.Contains([]string{"Fulfilled", "SentUnlock", "ClaimedUnlock"}, o.State) {
			later = append(later, q)
		}
	}
	list := []shadowQuestion{{"/api/Orders/filteredList", `{"take":6}`}}
	swap := []shadowQuestion{{swapPath(facts), ""}}
	var locked []shadowQuestion
	for _, taker := range facts.Takers[:1] {
		locked = append(locked, shadowQuestion{"/api/Satistics/" + taker.Address + "/lockedAssets", ""})
	}
	dropRow := func(first bool) func(*rand.Rand, any) any {
		return func(random *rand.Rand, body any) any {
			object := body.(map[string]any)
			rows := object["orders"].([]any)
			at := 0
			if !first {
				at = 1 + random.IntN(len(rows)-2)
			}
			object["orders"] = slices.Delete(rows, at, at+1)
			return object
		}
	}
	return []seededKind{
		{"another value", "different", 34, all, anotherValue},
		{"another type", "different", 8, all, func(random *rand.Rand, body any) any {
			body.(map[string]any)[settledMembers[random.IntN(len(settledMembers))]] = []any{json.Number("1")}
			return body
		}},
		{"a member is missing", "different", 8, all, func(random *rand.Rand, body any) any {
			delete(body.(map[string]any), settledMembers[random.IntN(len(settledMembers))])
			return body
		}},
		{"a member that is not documented", "expected", 14, all, newMember},
		{"an earlier state", "expected", 10, later, earlierState},
		{"not known yet", "expected", 6, all, func(*rand.Rand, any) any { return nil }},
		{"a later state", "expected", 6, created, func(_ *rand.Rand, body any) any {
			order := body.(map[string]any)
			order["state"], order["fulfilledDstEventMetadata"], order["taker"] = "Fulfilled", order["createdSrcEventMetadata"], order["makerSrc"]
			return order
		}},
		{"a list without the newest order", "expected", 4, list, dropRow(true)},
		{"a list without another", "different", 4, list, dropRow(false)},
		{"an order to unlock less", "expected", 3, locked, fewerToUnlock},
		{"another price", "different", 3, swap, price(1.05)},
		{"a price that moves", "same", 3, swap, price(1.002)},
	}
}

// anotherValue changes one text or number of an order's settled members or offers.
func anotherValue(random *rand.Rand, body any) any {
	order := body.(map[string]any)
	names := append(slices.Clone(settledMembers), "giveOfferWithMetadata chainId", "giveOfferWithMetadata tokenAddress",
		"giveOfferWithMetadata amount", "takeOfferWithMetadata chainId", "takeOfferWithMetadata amount", "takeOfferWithMetadata tokenAddress")
	holder, name := order, ""
	for i, part := range strings.Fields(names[random.IntN(len(names))]) {
		if i > 0 {
			holder = holder[name].(map[string]any)
		}
		name = part
	}
	for {
		inner, isObject := holder[name].(map[string]any)
		if !isObject {
			break
		}
		keys := slices.Sorted(maps.Keys(inner))
		holder, name = inner, keys[random.IntN(len(keys))]
	}
	switch was := holder[name].(type) {
	case string:
		holder[name] = was + "7"
	case json.Number:
		holder[name] = was + "7"
	default:
		holder[name] = "7"
	}
	return body
}

// newMember adds a member to any object of an order.
func newMember(random *rand.Rand, body any) any {
	at := body.(map[string]any)
	for random.IntN(3) > 0 {
		var inner []map[string]any
		for _, name := range slices.Sorted(maps.Keys(at)) {
			if object, isObject := at[name].(map[string]any); isObject {
				inner = append(inner, object)
			}
		}
		if len(inner) == 0 {
			break
		}
		at = inner[random.IntN(len(inner))]
	}
	at["promotion"+strconv.Itoa(random.IntN(1000))] = []any{nil, "x", json.Number("1")}[random.IntN(3)]
	return body
}

// earlierState takes an order back to its creation, as the hosted service would have it then.
func earlierState(_ *rand.Rand, body any) any {
	order := body.(map[string]any)
	noAddress := map[string]any{"Base64Value": nil, "bytesArrayValue": "", "stringValue": nil}
	noMessage := func() map[string]any {
		return map[string]any{
			"transactionMetadata": nil, "submissionId": map[string]any{"bytesValue": nil, "bytesArrayValue": nil, "stringValue": nil},
		}
	}
	order["state"], order["fulfilledDstEventMetadata"], order["taker"], order["unlockAuthorityDst"] = "Created", nil, noAddress, noAddress
	order["sentUnlockDstEventInfo"], order["claimedUnlockSrcEventInfo"] = noMessage(), noMessage()
	order["unlockBeneficiarySrc"], order["actualFulfillAmount"] = nil, nil
	return order
}

// fewerToUnlock takes the last order of an answer about locked assets away, with what that locks.
func fewerToUnlock(random *rand.Rand, body any) any {
	chains := body.([]any)
	tokens := chains[random.IntN(len(chains))].(map[string]any)["lockedTokens"].([]any)
	token := tokens[random.IntN(len(tokens))].(map[string]any)
	targets := token["dstChainsLockedAmounts"].([]any)
	target := targets[random.IntN(len(targets))].(map[string]any)
	ids := target["ordersToUnlock"].([]any)
	target["ordersToUnlock"] = ids[:len(ids)-1]
	target["dstChainTokenAmount"], token["tokenAmount"] = json.Number("0.5"), json.Number("0.5")
	return body
}

// price multiplies what comes of a swap.
func price(by float64) func(*rand.Rand, any) any {
	return func(_ *rand.Rand, body any) any {
		out := body.(map[string]any)["tokenOut"].(map[string]any)
		for _, name := range []string{"amount", "minAmount"} {
			amount, err := strconv.ParseFloat(out[name].(string), 64)
			if err != nil {
				panic(err)
			}
			out[name] = strconv.FormatFloat(amount*by, 'f', 0, 64)
		}
		return body
	}
}
