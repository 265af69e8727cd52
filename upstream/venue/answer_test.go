package venue

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// Keys are what the sandbox's venues are asked with; the others take none.
var Keys = map[string]string{
	zeroEx.Name: "sandbox", oneInch.Name: "sandbox", enso.Name: "sandbox", dflow.Name: "sandbox", okx.Name: "sandbox:secret:passphrase",
}

// baseSwap is a swap of the coin on Base that has amount as its input.
func baseSwap(t testing.TB, amount string) quote.Swap {
	t.Helper()
	base, _ := chain.Documented().Chain(8453)
	in, err := chain.ParseAmount(amount)
	if err != nil {
		t.Fatal(err)
	}
	return quote.Swap{Chain: base, In: quote.Side{Address: chain.NativeCoin(chain.EVM), Amount: in}}
}

func profileOf(t testing.TB, name string) quote.Profile {
	t.Helper()
	return openHere(t, name, upstream.NewPool(name)).Profile()
}

func openHere(t testing.TB, name string, pool *upstream.Pool) quote.Venue {
	t.Helper()
	v, err := New(name, Options{Pool: pool, Registry: chain.Documented(), Key: Keys[name]})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// promise fails when a reader took an answer without what makes it one.
func promise(t *testing.T, h heard, p quote.Profile, s quote.Swap) {
	t.Helper()
	if h.priceErr == nil && h.amountOut.IsZero() {
		t.Error("a price of nothing was taken")
	}
	_, onSolana := p.Routers[chain.Solana] // where transactions have neither contract nor value
	if h.txErr == nil && (len(h.tx.Data) == 0 || len(h.tx.Data) > maxCalldata ||
		!onSolana && (!p.Calls(s.Chain.ID, h.tx.To) || h.tx.Value != s.In.Amount)) {
		t.Errorf("transaction %+v was taken", h.tx)
	}
	for _, err := range []error{h.priceErr, h.txErr} {
		// A quoted character is one of up to ten.
		if err != nil && utf8.RuneCountInString(err.Error()) > 10*maxMessage {
			t.Errorf("error of %d bytes: %.80s…", len(err.Error()), err)
		}
	}
}

// heard is what a venue's readers made of one answer, taken for its price and for its transaction.
type heard struct {
	amountOut       chain.Amount
	tx              quote.Tx
	priceErr, txErr error
}

// readers are each venue's readers of answers.
var readers = map[string]func(upstream.Response, quote.Profile, quote.Swap) heard{
	kyber.Name: readsTwice(readKyberRoute, readKyberBuild),
	velora.Name: func(resp upstream.Response, p quote.Profile, s quote.Swap) heard {
		h := readsTwice(readVeloraPrice, readVeloraTransaction)(resp, p, s)
		if found, err := readVeloraPrice(resp, p, s); err == nil && found.route.net.Cmp(found.route.gross) > 0 {
			h.priceErr, h.amountOut = nil, chain.Amount{} // more than all is as bad as nothing
		}
		return h
	},
	openOcean.Name: readsTwice(reader(readOpenOcean).price, reader(readOpenOcean).tx),
	sushi.Name:     readsTwice(reader(readSushi).price, reader(readSushi).tx),
	zeroEx.Name:    readsTwice(reader(readZeroEx).price, reader(readZeroEx).tx),
	oneInch.Name:   readsTwice(reader(readOneInch).price, reader(readOneInch).tx),
	relay.Name:     readsOnce(reader(readRelay).priceAndTx),
	fly.Name:       readsOnce(reader(readFly).priceAndTx),
	fabric.Name:    readsOnce(reader(readFabric).priceAndTx),
	lifi.Name:      readsOnce(reader(readLifi).priceAndTx),
	enso.Name:      readsOnce(reader(readEnso).priceAndTx),
	okx.Name:       readsOnce(reader(readOKX).priceAndTx),
	dflow.Name:     readsOnce(readDFlow),
	jupiter.Name:   readsOnce(readJupiter),
	sunioName: func(resp upstream.Response, p quote.Profile, s quote.Swap) heard {
		found, err := something(readSunio(resp, p, s))
		return heard{amountOut: found.amountOut, priceErr: err, txErr: errors.New("written by the gateway")}
	},
}

// readsOnce is for services whose one answer holds price and transaction.
func readsOnce(
	read func(upstream.Response, quote.Profile, quote.Swap) (pricedRoute[quote.Tx], error),
) func(upstream.Response, quote.Profile, quote.Swap) heard {
	return func(resp upstream.Response, p quote.Profile, s quote.Swap) heard {
		found, err := something(read(resp, p, s))
		return heard{found.amountOut, found.route, err, err}
	}
}

// readsTwice is for services with an answer for each.
func readsTwice[R any](
	price func(upstream.Response, quote.Profile, quote.Swap) (pricedRoute[R], error),
	build func(upstream.Response, quote.Profile, quote.Swap, quote.Quote) (quote.Tx, error),
) func(upstream.Response, quote.Profile, quote.Swap) heard {
	return func(resp upstream.Response, p quote.Profile, s quote.Swap) (h heard) {
		var found pricedRoute[R]
		found, h.priceErr = something(price(resp, p, s))
		h.amountOut = found.amountOut
		h.tx, h.txErr = build(resp, p, s, quote.Quote{})
		return h
	}
}

// FuzzAnswers feeds every venue's readers what any venue might say.
func FuzzAnswers(f *testing.F) {
	profiles := map[string]quote.Profile{}
	for name := range readers {
		profiles[name] = profileOf(f, name)
		archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".answer") {
				_, body, _ := strings.Cut(string(file.Data), "\n")
				f.Add(name, 200, []byte(body))
				f.Add(name, 400, []byte(body))
			}
		}
	}
	s := baseSwap(f, "1000000000000000000")
	f.Fuzz(func(t *testing.T, name string, status int, body []byte) {
		read, known := readers[name]
		if !known {
			return
		}
		promise(t, read(upstream.Response{Status: status, Body: body}, profiles[name], s), profiles[name], s)
	})
}

func TestEveryVenueHasItsReadersFuzzed(t *testing.T) {
	for _, s := range Documented() {
		if s.URL != "" && readers[s.Name] == nil {
			t.Errorf("venue %s is not in the table of readers", s.Name)
		}
	}
}

func TestSharesAreRoundedAgainstNobody(t *testing.T) {
	tests := []struct {
		amount, percent, want string
	}{
		{"2042835514", "0.01", "204283"}, // recorded figures: one basis point
		{"257704618563974816", "1", "2577046185639748"},
		{"1", "99.99", "0"},
		{"115792089237316195423570985008687907853269984665640564039457584007913129639935", "100", "115792089237316195423570985008687907853269984665640564039457584007913129639935"},
		{"10000", "0", "0"},
	}
	for _, c := range tests {
		amount, err := chain.ParseAmount(c.amount)
		if err != nil {
			t.Fatal(err)
		}
		got, err := percentOf(amount, decimal.RequireFromString(c.percent))
		if err != nil || got.String() != c.want {
			t.Errorf("percentOf(%s, %s) = %s, %v; want %s", c.amount, c.percent, got, err, c.want)
		}
	}
	for percent, want := range map[string]int{"0.3": 30, "0.005": 0, "0.359": 35, "25.999": 2599} {
		if got := bps(decimal.RequireFromString(percent)); got != want {
			t.Errorf("bps(%s %%) = %d, want %d", percent, got, want)
		}
	}
}

// The minimum that Velora is asked for is before its fee, the one that the gateway promises after it.
func TestVelorasMinimumKeepsThePromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gross := chain.NewAmount(rapid.Uint64Range(1, 1<<63).Draw(t, "gross"))
		fee := decimal.New(rapid.Int64Range(0, 200).Draw(t, "fee in bps"), -2)
		slippage := decimal.New(rapid.Int64Range(0, 50_000).Draw(t, "slippage in thousandths of a percent"), -3)
		share := func(a chain.Amount, percent decimal.Decimal) chain.Amount {
			part, err := percentOf(a, percent)
			if err != nil {
				t.Fatal(err)
			}
			return part
		}
		net := gross.Sub(share(gross, fee))
		promised := net.Sub(share(net, slippage))
		least, err := veloraRoute{gross: gross, net: net, feePercent: fee}.least(slippage)
		if err != nil {
			t.Fatal(err)
		}
		if got := least.Sub(share(least, fee)); got.Cmp(promised) < 0 {
			t.Errorf("least %s leaves %s, promised %s", least, got, promised)
		}
		if least.Cmp(gross) > 0 {
			t.Errorf("least %s exceeds the quoted %s", least, gross)
		}
	})
}

func TestLargeAnswersAreNotRead(t *testing.T) {
	resp := upstream.Response{Status: 200, Body: make([]byte, maxAnswer+1)}
	if err := decode(resp, &struct{}{}); err == nil || isRefusal(err) {
		t.Errorf("decode of %d bytes = %v, want a bad answer", len(resp.Body), err)
	}
	data := "0x" + strings.Repeat("00", maxCalldata+1)
	if _, err := calldata(data); err == nil {
		t.Error("calldata that no node takes was taken")
	}
}

func TestVenuesAreRegisteredOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second kyberswap was registered")
		}
	}()
	register(Service{Name: kyber.Name}, func(Options) (quote.Venue, error) { return nil, errors.New("second") })
}
