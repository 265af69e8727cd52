package venue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/venue"
)

const (
	sender    = "0x1111111111111111111111111111111111111111"
	recipient = "0x2222222222222222222222222222222222222222"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// open returns the venue name with its API served by h, at noon.
func open(t *testing.T, name string, h http.Handler, o venue.Options) quote.Venue {
	t.Helper()
	o.Pool, o.Registry, o.Key = upstream.NewPool(name, pooltest.Serve(t, name, h)), chain.Documented(), venue.Keys[name]
	o.Now, o.Contracts = func() time.Time { return noon }, settlers
	return must.Get(venue.New(name, o))(t)
}

// settlers is a chain whose contracts all answer with a Settler's address, like the registry of 0x.
func settlers(_ context.Context, _ chain.ID, calls []chain.ContractCall) ([][]byte, error) {
	settler := bytes.Repeat([]byte{0x5e, 0x77, 0x1e}, 7)[:20]
	answers := make([][]byte, len(calls))
	for i := range calls {
		answers[i] = append(make([]byte, 12), settler...)
	}
	return answers, nil
}

// silent is a chain without contracts.
func silent(_ context.Context, _ chain.ID, calls []chain.ContractCall) ([][]byte, error) {
	return make([][]byte, len(calls)), nil
}

func address(t *testing.T, text string) chain.Address {
	t.Helper()
	return addressOn(t, chain.EVM, text)
}

func addressOn(t *testing.T, family chain.Family, text string) chain.Address {
	t.Helper()
	return must.Get(chain.ParseAddress(text, family))(t)
}

func units(whole, decimals int64) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	return scale.Mul(scale, big.NewInt(whole))
}

// eachService runs promise as a test of every venue that is a service.
func eachService(t *testing.T, promise func(t *testing.T, s venue.Service)) {
	t.Helper()
	for _, s := range venue.Documented() {
		if s.URL != "" {
			t.Run(s.Name, func(t *testing.T) { promise(t, s) })
		}
	}
}

// TestARefusedKeyIsNotAnAnswer: another endpoint may have a better one. Other refusals are final.
func TestARefusedKeyIsNotAnAnswer(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	usdt, _ := token.WellKnown(ethereum.ID, "USDT")
	for status, isAskedElsewhere := range map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: false, http.StatusBadRequest: false} {
		var asked [2]atomic.Bool
		var endpoints []*upstream.Endpoint
		for i, status := range []int{status, http.StatusBadRequest} {
			endpoints = append(endpoints, pooltest.Endpoint(t, fmt.Sprint("enso", i), func(*http.Request) (*http.Response, error) {
				asked[i].Store(true)
				return pooltest.Answer(status, `{"message":"no"}`), nil
			}))
		}
		v := must.Get(venue.New("enso", venue.Options{Pool: upstream.NewPool("enso", endpoints...), Registry: chain.Documented(), Key: "key"}))(t)
		_, err := v.Quote(t.Context(), quote.Example(ethereum, usdt))
		if err == nil || asked[1].Load() != isAskedElsewhere {
			t.Errorf("HTTP %d: %v, the other endpoint was asked: %t", status, err, asked[1].Load())
		}
	}
}

// TestExchangesAskForEveryPath has a golden file of the calls with which exchanges quote a swap of the coin on
// Ethereum: their identity, and the price of each path, direct and over hubs.
func TestExchangesAskForEveryPath(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	usdt, _ := token.WellKnown(ethereum.ID, "USDT")
	var calls strings.Builder
	for _, name := range []string{"uniswap-v2", "uniswap-v3"} {
		away := errors.New("endpoint away")
		v := must.Get(venue.New(name, venue.Options{Registry: chain.Documented(), Contracts: func(_ context.Context, _ chain.ID, asked []chain.ContractCall) ([][]byte, error) {
			for _, each := range asked {
				fmt.Fprintf(&calls, "%s %s %x\n", name, each.To, each.Data)
			}
			return nil, away
		}}))(t)
		if _, err := v.Quote(t.Context(), quote.Example(ethereum, usdt)); !errors.Is(err, away) || !v.Profile().Writes {
			t.Errorf("%s: Quote without contracts: %v, want %v of calldata that we write", name, err, away)
		}
	}
	golden.Check(t, "testdata/paths.txt", calls.String())
}
