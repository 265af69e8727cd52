package venue_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/sandbox/venues"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/venue"
)

// wire is the way to a venue, without a network, so that a bubble's clock rules it.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

const honestTakes = 50 * time.Millisecond

// honest answers by h after a while.
func honest(h http.Handler) wire {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(honestTakes):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, r)
		return recorder.Result(), nil
	}
}

// says answers at once.
func says(status int, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// drip is a body of which a byte comes every 100 ms for ever.
type drip struct{ ctx context.Context }

func (d drip) Close() error { return nil }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(100 * time.Millisecond):
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

// faults are what a venue may do instead of answering, and what explain is to say of it.
var faults = []struct {
	name    string
	answer  wire
	verdict quote.Verdict
	class   upstream.Class // of a refused one
}{
	{"hangs", func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}, quote.Silent, 0},
	{"is over its limit", func(*http.Request) (*http.Response, error) {
		return says(http.StatusTooManyRequests, io.NopCloser(strings.NewReader(`{"message":"too many requests"}`))), nil
	}, quote.Refused, upstream.RateLimited},
	{"is broken", func(*http.Request) (*http.Response, error) {
		return says(http.StatusInternalServerError, io.NopCloser(strings.NewReader(`{"message":"internal error"}`))), nil
	}, quote.Refused, upstream.ServerError},
	{"drips", func(r *http.Request) (*http.Response, error) {
		return says(http.StatusOK, drip{r.Context()}), nil
	}, quote.Silent, 0},
	{"talks nonsense", func(*http.Request) (*http.Response, error) {
		return says(http.StatusOK, io.NopCloser(strings.NewReader(`{"data":{"amou`))), nil
	}, quote.Refused, upstream.BadAnswer},
}

// TestFaultsOfVenuesCostNothingButTheirOffers lets each fault happen to each venue in turn, five venues at a time,
// and leaves the others to answer. Two honest ones are enough after 1.3 s of the window of 2.5 s, so that is when
// those who hang or drip are given up.
func TestFaultsOfVenuesCostNothingButTheirOffers(t *testing.T) {
	names := []string{"0x", "1inch", "enso", "kyberswap", "openocean", "sushiswap", "velora"}
	for turn := range names {
		t.Run(names[turn], func(t *testing.T) { synctest.Test(t, func(t *testing.T) { faultyRound(t, turned(names, turn)) }) })
	}
}

func turned(names []string, by int) []string { return slices.Concat(names[by:], names[:by]) }

// faultyRound gives a fault to each of the first venues.
func faultyRound(t *testing.T, names []string) {
	market := newHall()
	var all []quote.Venue
	for i, name := range names {
		way := honest(market.handler(name))
		if i < len(faults) {
			way = faults[i].answer
		}
		all = append(all, openBy(t, name, way))
	}
	s := newSwap(t, coinText, usdcText, units(1, 18))
	e := quote.New(quote.Options{
		Registry: chain.Documented(), Venues: all, Logger: slog.New(slog.DiscardHandler),
		Chains: map[chain.ID]quote.Chain{8453: {Guard: swap.Guard{}, Execution: quote.DirectOnly, AllowUnsimulated: true}},
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(),
			Own:      map[token.Key]token.Token{{Chain: 8453, Address: s.Out.Address}: {Decimals: 6, Symbol: "USDC"}},
		}),
		Now: func() time.Time { return noon },
	})
	began := time.Now()
	got, err := e.Estimate(t.Context(), quote.Request{
		Chain: 8453, TokenIn: s.In.Address, TokenOut: s.Out.Address, AmountIn: s.In.Amount, Recipient: s.Recipient, Sender: s.Sender,
	})
	if err != nil {
		t.Fatal(err)
	}
	const givenUp = 1300 * time.Millisecond
	if took := time.Since(began); took != givenUp && took != givenUp+honestTakes {
		t.Errorf("the answer took %v, want %v, and %v more where a transaction is a call of its own", took, givenUp, honestTakes)
	}
	var honestOnes []string // as answers spell them
	for _, v := range all[len(faults):] {
		honestOnes = append(honestOnes, cmp.Or(v.Profile().AnswerName, v.Profile().Name))
	}
	if got.MinOut.IsZero() || len(got.Tx.Data) == 0 || len(got.Compared) != len(honestOnes) || !slices.Contains(honestOnes, got.Compared[0].Name) {
		t.Errorf("the answer is %+v of %v, want a transaction of one of %v", got.Compared, got.Tx.To, honestOnes)
	}
	for i, fault := range faults {
		told := got.Asked[slices.IndexFunc(got.Asked, func(a quote.Asked) bool { return a.Venue == names[i] })]
		if told.Verdict != fault.verdict {
			t.Errorf("%s, which %s: verdict %d, want %d", names[i], fault.name, told.Verdict, fault.verdict)
		}
		var failed *upstream.Error
		switch {
		case fault.verdict == quote.Silent && !errors.Is(told.Err, context.DeadlineExceeded):
			t.Errorf("%s, which %s: %v, want that it was too late", names[i], fault.name, told.Err)
		case fault.verdict == quote.Refused && (!errors.As(told.Err, &failed) || failed.Class != fault.class):
			t.Errorf("%s, which %s: %v, want class %v", names[i], fault.name, told.Err, fault.class)
		}
	}
}

// openBy is the venue at the other end of a wire.
func openBy(t *testing.T, name string, way wire) quote.Venue {
	t.Helper()
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{
		Name: name, URL: "http://venue.example", Client: &http.Client{Transport: way},
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := venue.New(name, venue.Options{
		Pool: upstream.NewPool(name, endpoint), Registry: chain.Documented(), Key: venues.Key(name), Now: func() time.Time { return noon },
		Contracts: settlers,
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
