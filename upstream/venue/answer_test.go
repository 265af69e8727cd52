package venue

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/upstream"
)

// Keys are the API keys used with the sandbox's venues; other venues take none.
var Keys = map[string]string{
	zeroEx.Name: "sandbox", oneInch.Name: "sandbox", enso.Name: "sandbox", dflow.Name: "sandbox", okx.Name: "sandbox:secret:pass:phrase",
}

// baseSwap returns a swap of amount of the coin on Base.
func baseSwap(t testing.TB, amount string) quote.Swap {
	t.Helper()
	base, _ := chain.Documented().Chain(8453)
	in := must.Get(chain.ParseAmount(amount))(t)
	return quote.Swap{Chain: base, In: quote.Side{Address: chain.NativeCoin(chain.EVM), Amount: in}}
}

// openHere returns the venue of a service at the endpoints of pool.
func openHere(t testing.TB, name string, pool *upstream.Pool) *aggregator {
	t.Helper()
	v := must.Get(New(name, Options{Pool: pool, Registry: chain.Documented(), Key: Keys[name]}))(t)
	switch v := v.(type) {
	case *zeroExVenue:
		return v.aggregator
	case *sunioVenue:
		return v.aggregator
	}
	return v.(*aggregator)
}

func profileOf(t testing.TB, name string) quote.Profile {
	t.Helper()
	return openHere(t, name, upstream.NewPool(name)).profile
}

// allHere returns the venues that are services, by name.
func allHere(t testing.TB) map[string]*aggregator {
	t.Helper()
	all := map[string]*aggregator{}
	for _, s := range Documented() {
		if s.URL != "" {
			all[s.Name] = openHere(t, s.Name, upstream.NewPool(s.Name))
		}
	}
	return all
}

// promise fails if a venue accepts an answer, as a price or as a transaction, that lacks an essential part.
func (v *aggregator) promise(t *testing.T, status int, body []byte, s quote.Swap) {
	t.Helper()
	if v.program != "" {
		s.Chain, _ = chain.Documented().Chain(chain.Solana)
	}
	resp := upstream.Response{Status: status, Body: body}
	asked := &question{aggregator: v, swap: s}
	price, priceErr := asked.readPrice(resp)
	built, builtErr := asked.readBuilt(resp)
	if priceErr == nil && price.out.IsZero() {
		t.Error("a price of nothing was taken")
	}
	if route, is := price.route.(veloraRoute); is && priceErr == nil && price.out.Cmp(route.gross) > 0 {
		t.Errorf("a price of %s was taken, more than the %s before the fee", price.out, route.gross)
	}
	for tx, err := range map[*quote.Tx]error{&price.tx: priceErr, &built.tx: builtErr} {
		isMade := tx == &built.tx || v.isAskedOnce() && !v.profile.Writes
		if isMade && err == nil && (len(tx.Data) == 0 || len(tx.Data) > maxCalldata ||
			v.program == "" && (!v.profile.Calls(s.Chain.ID, tx.To) || tx.Value != s.In.Amount)) {
			t.Errorf("transaction %+v was taken", tx)
		}
		// Quoting may expand a character to ten.
		if err != nil && utf8.RuneCountInString(err.Error()) > 10*maxMessage {
			t.Errorf("error of %d bytes: %.80s…", len(err.Error()), err)
		}
	}
}

// eachAnswer calls call with each answer in a venue's fixtures.
func eachAnswer(t testing.TB, name string, call func(body []byte)) {
	t.Helper()
	archive := must.Get(txtar.ParseFile(filepath.Join("testdata", name+".txtar")))(t)
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".answer") {
			_, body, _ := strings.Cut(string(file.Data), "\n")
			call([]byte(body))
		}
	}
}

// FuzzAnswers feeds every venue arbitrary answers.
func FuzzAnswers(f *testing.F) {
	all := allHere(f)
	for name := range all {
		eachAnswer(f, name, func(body []byte) {
			f.Add(name, 200, body)
			f.Add(name, 400, body)
		})
	}
	s := baseSwap(f, "1000000000000000000")
	f.Fuzz(func(t *testing.T, name string, status int, body []byte) {
		if v, known := all[name]; known {
			v.promise(t, status, body, s)
		}
	})
}

// TestErrorsAreShortWhateverIsLong replaces each text and number of every fixture's answers by a long one, in turn.
func TestErrorsAreShortWhateverIsLong(t *testing.T) {
	s := baseSwap(t, "1000000000000000000")
	for name, v := range allHere(t) {
		eachAnswer(t, name, func(body []byte) {
			if !json.Valid(body) {
				return
			}
			for _, long := range []any{
				strings.Repeat("lengthy", 300), "0x" + strings.Repeat("ab", 1000), json.Number(strings.Repeat("7", 2000)),
			} {
				eachLeaf(t, body, long, func(altered []byte) {
					for _, status := range []int{200, 400} {
						v.promise(t, status, altered, s)
					}
				})
			}
		})
	}
}

// eachLeaf calls call with each variant of a JSON text in which one scalar is replaced by another.
func eachLeaf(t *testing.T, text []byte, another any, call func(altered []byte)) {
	t.Helper()
	var whole any
	must.Do(t, json.Unmarshal(text, &whole))
	var visit func(value any, set func(any))
	visit = func(value any, set func(any)) {
		switch holder := value.(type) {
		case map[string]any:
			for key, each := range holder {
				visit(each, func(to any) { holder[key] = to })
			}
		case []any:
			for i, each := range holder {
				visit(each, func(to any) { holder[i] = to })
			}
		default:
			set(another)
			call(must.Get(json.Marshal(whole))(t))
			set(value)
		}
	}
	visit(whole, func(to any) { whole = to })
}

// TestTemplatesHaveKnownWords: a request would silently lack any other.
func TestTemplatesHaveKnownWords(t *testing.T) {
	for name, v := range allHere(t) {
		templates := []*requestTemplate{&v.asks, {query: v.header}}
		if v.builds != nil {
			templates = append(templates, v.builds)
		}
		for _, each := range templates {
			os.Expand(strings.Join([]string{each.path, each.query, each.builds, each.shares, each.body}, " "), func(word string) string {
				plain, _, _ := strings.Cut(word, ":")
				if swapWords[plain] == nil && !slices.Contains(v.Accepts, plain) && !strings.Contains(word, "|") {
					t.Errorf("%s: a template has the unknown word $%s", name, word)
				}
				return ""
			})
		}
	}
}

// The minimum in requests to Velora is before its fee, the one that the gateway promises after it.
func TestVelorasMinimumKeepsThePromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gross := chain.NewAmount(rapid.Uint64Range(1, 1<<63).Draw(t, "gross"))
		fee := decimal.New(rapid.Int64Range(0, 200).Draw(t, "fee in bps"), -2)
		slippage := decimal.New(rapid.Int64Range(0, 50_000).Draw(t, "slippage in thousandths of a percent"), -3)
		net := gross.Sub(quote.Share(gross, fee))
		promised := net.Sub(quote.Share(net, slippage))
		least := veloraLeast(&question{swap: quote.Swap{SlippagePercent: slippage}, proposal: proposal{out: net, route: veloraRoute{gross, fee}}})
		if got := least.Sub(quote.Share(least, fee)); got.Cmp(promised) < 0 {
			t.Errorf("least %s leaves %s, promised %s", least, got, promised)
		}
		if least.Cmp(gross) > 0 {
			t.Errorf("least %s exceeds the quoted %s", least, gross)
		}
	})
}

func TestLargeAnswersAreNotRead(t *testing.T) {
	if _, err := parseAnswer(make([]byte, maxAnswer+1)); err == nil || isRefusal(err) {
		t.Errorf("an answer of %d bytes: %v, want a bad answer", maxAnswer+1, err)
	}
	if _, err := calldata("0x" + strings.Repeat("00", maxCalldata+1)); err == nil {
		t.Error("calldata that no node takes was taken")
	}
}

func TestVenuesAreRegisteredOnce(t *testing.T) {
	defer func(before map[string]registration) { registered = before }(maps.Clone(registered))
	defer func() {
		if recover() == nil {
			t.Error("a second kyberswap was registered")
		}
	}()
	add(Service{Name: kyber.Name}, func(Options) (quote.Venue, error) { return nil, errors.New("second") })
}
