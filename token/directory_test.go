package token_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/token"
)

// contracts is a chain with tokens that takes a second to answer.
type contracts struct {
	readings map[chain.Address]token.Reading

	failed error

	mu    sync.Mutex
	asked [][]chain.Address
}

var _ token.Reader = (*contracts)(nil)

func (c *contracts) ReadTokens(ctx context.Context, addresses []chain.Address) ([]token.Reading, error) {
	c.mu.Lock()
	c.asked = append(c.asked, addresses)
	c.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.failed != nil {
		return nil, c.failed
	}
	readings := make([]token.Reading, len(addresses))
	for i, address := range addresses {
		readings[i] = c.readings[address]
	}
	return readings, nil
}

var (
	usdc  = address("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	mute  = address("0x00000000000000000000000000000000DeaDBeef")
	maker = address("0x9f8F72aA9304c8B593d555F12eF6589cC3A579A2")
)

func address(text string) chain.Address {
	a, _, err := chain.ParseAnyAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

func ethereum() *contracts {
	return &contracts{readings: map[chain.Address]token.Reading{
		usdc:  {Decimals: new(uint8(6)), Name: "USD Coin", Symbol: "USDC"},
		maker: {Decimals: new(uint8(18)), Symbol: "MKR"},
	}}
}

func logo(id chain.ID, text string) string {
	return fmt.Sprintf("https://tokens.debridge.finance/Logo/%d/%s/big/token-logo.png", id, text)
}

func TestLookupTellsEveryKindOfToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := ethereum()
		d := token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: reader},
			Own: map[token.Key]token.Token{{Chain: 1, Address: maker}: {Decimals: 18, Name: "Maker", Symbol: "MKR", LogoURI: "https://logo.example/mkr.png"}},
		})
		got := must.Get(d.Lookup(t.Context(), 1, usdc, chain.NativeCoin(chain.EVM), mute, maker, usdc, chain.Address{}))(t)
		usd := token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC", LogoURI: logo(1, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")}
		want := []token.Token{
			usd,
			{Decimals: 18, Name: "Ethereum", Symbol: "ETH", LogoURI: logo(1, "0x0000000000000000000000000000000000000000")},
			{Decimals: 0, Name: "0x0000…beef", Symbol: "0x0000…beef", LogoURI: logo(1, "0x00000000000000000000000000000000deadbeef")},
			{Decimals: 18, Name: "Maker", Symbol: "MKR", LogoURI: "https://logo.example/mkr.png"},
			usd,
			{},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Lookup (-want +got):\n%s", diff)
		}
		must.Get(d.Lookup(t.Context(), 1, mute, usdc))(t)
		for _, a := range []chain.Address{usdc, maker, chain.NativeCoin(chain.EVM), mute, address("0x0000000000000000000000000000000000000bad")} {
			if got, want := d.IsSilent(token.Key{Chain: 1, Address: a}), a == mute; got != want {
				t.Errorf("IsSilent(%s) = %t, want %t: only a contract that was asked can be", a, got, want)
			}
		}
		if diff := cmp.Diff([][]chain.Address{{usdc, mute}}, reader.asked, cmp.Comparer(same)); diff != "" {
			t.Errorf("readings (-want +got):\n%s", diff)
		}
		if got := must.Get(d.Lookup(t.Context(), 1, chain.NativeCoin(chain.SVM)))(t); got[0].Symbol == "ETH" {
			t.Error("zeros of another family's length, as an order may name, are the coin")
		}
	})
}

// pass lets time pass on the bubble's clock.
func pass(d time.Duration) { <-time.After(d) }

func same(a, b chain.Address) bool { return a == b }

func TestLookupWritesAddressesInTheirFamilysForm(t *testing.T) {
	d := token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented()})
	tether := address("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")
	for _, row := range []struct {
		chain   chain.ID
		address chain.Address
		want    token.Token
	}{
		{chain.Tron, tether, token.Token{Decimals: 6, Name: "Tether USD", Symbol: "USDT", LogoURI: logo(100000026, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")}},
		{chain.Tron, address("TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR"), token.Token{Decimals: 6, Name: "TNUC9Q…jWFR", Symbol: "TNUC9Q…jWFR", LogoURI: logo(100000026, "TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR")}},
		{chain.Solana, address("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"), token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC", LogoURI: logo(7565164, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")}},
		{chain.Solana, chain.NativeCoin(chain.SVM), token.Token{Decimals: 9, Name: "Solana", Symbol: "SOL", LogoURI: logo(7565164, "11111111111111111111111111111111")}},
		{4, usdc, token.Token{Name: "0xa0b8…eb48", Symbol: "0xa0b8…eb48", LogoURI: logo(4, usdc.String())}},
	} {
		got, err := d.Lookup(t.Context(), row.chain, row.address)
		if err != nil || len(got) != 1 || got[0] != row.want {
			t.Errorf("Lookup(%d, %s) = %+v, %v, want %+v", row.chain, row.address, got, err, row.want)
		}
	}
}

func TestLookupJoinsThoseWhoWaitForTheSameToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := ethereum()
		d := token.NewDirectory(token.DirectoryOptions{Readers: map[chain.ID]token.Reader{1: reader}})
		leaving, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := d.Lookup(leaving, 1, usdc)
			left <- err
		}()
		synctest.Wait()
		leave() // the reading continues for the others
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("Lookup of the one who left = %v, want context.Canceled", err)
		}
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				got, err := d.Lookup(t.Context(), 1, usdc, maker)
				if err != nil || got[0].Symbol != "USDC" || got[1].Name != "MKR" {
					t.Errorf("Lookup = %v, %v", got, err)
				}
			})
		}
		group.Wait()
		if diff := cmp.Diff([][]chain.Address{{usdc}, {maker}}, reader.asked, cmp.Comparer(same)); diff != "" {
			t.Errorf("readings (-want +got):\n%s", diff)
		}
	})
}

func TestLookupForgetsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := ethereum()
		reader.failed = errors.New("no connection")
		d := token.NewDirectory(token.DirectoryOptions{Readers: map[chain.ID]token.Reader{1: reader}})
		if got, err := d.Lookup(t.Context(), 1, usdc); !errors.Is(err, reader.failed) {
			t.Fatalf("Lookup = %v, %v, want the reader's error", got, err)
		}
		reader.failed = nil
		must.Get(d.Lookup(t.Context(), 1, maker))(t)
		reader.failed = errors.New("no connection again")
		if got, err := d.Lookup(t.Context(), 1, usdc, maker); err == nil || len(got) != 2 || got[0] != (token.Token{}) || got[1].Symbol == "" {
			t.Errorf("Lookup of one that is known and one that is not = %v, %v, want what is known beside the error", got, err)
		}
		reader.failed = nil
		if got, err := d.Lookup(t.Context(), 1, usdc); err != nil || got[0].Symbol != "USDC" {
			t.Errorf("Lookup after the failure = %v, %v", got, err)
		}
	})
}

func TestLookupAsksSilentContractsAgainLater(t *testing.T) {
	for isSingle, waits := range map[bool][]time.Duration{false: {0, 5 * time.Minute, 6 * time.Minute}, true: {0, 4 * time.Second, 2 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			reader := ethereum()
			reader.readings[mute] = token.Reading{IsSingle: isSingle}
			d := token.NewDirectory(token.DirectoryOptions{Readers: map[chain.ID]token.Reader{1: reader}})
			for _, wait := range waits {
				pass(wait)
				must.Get(d.Lookup(t.Context(), 1, mute))(t)
			}
			if len(reader.asked) != 2 {
				t.Errorf("asked %d times in %v, want 2, single: %t", len(reader.asked), waits, isSingle)
			}
		})
	}
}

// readerFunc is a Reader that returns the results of a function.
type readerFunc func() []token.Reading

func (f readerFunc) ReadTokens(context.Context, []chain.Address) ([]token.Reading, error) {
	return f(), nil
}

func TestLookupSurvivesItsReader(t *testing.T) {
	for name, reader := range map[string]readerFunc{
		"panics":    func() []token.Reading { panic("index out of range") },
		"too short": func() []token.Reading { return nil },
		"too long":  func() []token.Reading { return make([]token.Reading, 2) },
	} {
		d := token.NewDirectory(token.DirectoryOptions{Readers: map[chain.ID]token.Reader{1: reader}})
		if got, err := d.Lookup(t.Context(), 1, usdc); err == nil {
			t.Errorf("%s: Lookup = %v, want an error", name, got)
		}
	}
}

// shelf is storage that outlives a directory.
type shelf struct {
	mu   sync.Mutex
	kept map[token.Key]token.Reading
}

func (s *shelf) recall(_ context.Context, keys []token.Key) map[token.Key]token.Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[token.Key]token.Reading{}
	for _, key := range keys {
		if r, known := s.kept[key]; known {
			found[key] = r
		}
	}
	return found
}

func (s *shelf) remember(_ context.Context, readings map[token.Key]token.Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, r := range readings {
		s.kept[key] = r
	}
}

// TestCloseWaitsForWhatIsBeingRemembered answers a lookup while its tokens are still being stored.
func TestCloseWaitsForWhatIsBeingRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, stored, closed := make(chan struct{}), false, false
		d := token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: ethereum()},
			Remember: func(context.Context, map[token.Key]token.Reading) { <-store; stored = true },
		})
		must.Get(d.Lookup(t.Context(), 1, usdc))(t)
		go func() {
			d.Close()
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("closed while tokens are being stored")
		}
		close(store)
		synctest.Wait()
		if !stored || !closed {
			t.Errorf("stored: %v, closed: %v", stored, closed)
		}
	})
}

// TestCloseWaitsForContracts lets a contract answer after its caller has left.
func TestCloseWaitsForContracts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := false
		d := token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: ethereum()},
			Remember: func(context.Context, map[token.Key]token.Reading) { stored = true },
		})
		leaving, leave := context.WithCancel(t.Context())
		leave()
		if _, err := d.Lookup(leaving, 1, usdc); !errors.Is(err, context.Canceled) {
			t.Errorf("Lookup = %v", err)
		}
		if d.Close(); !stored {
			t.Error("closed before the token was stored")
		}
	})
}

func TestTokensAreRecalledBeforeChainsAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{kept: map[token.Key]token.Reading{}}
		lookup := func(reader *contracts, addresses ...chain.Address) []token.Token {
			d := token.NewDirectory(token.DirectoryOptions{
				Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: reader},
				Own:    map[token.Key]token.Token{{Chain: 1, Address: maker}: {Decimals: 18, Name: "Ours", Symbol: "OURS"}},
				Recall: s.recall, Remember: s.remember,
			})
			got := must.Get(d.Lookup(t.Context(), 1, addresses...))(t)
			synctest.Wait() // until the readings are remembered
			return got
		}
		first := lookup(ethereum(), usdc, mute, maker)
		if len(s.kept) != 1 || s.kept[token.Key{Chain: 1, Address: usdc}].Name != "USD Coin" {
			t.Errorf("kept %v, want what told its decimals and is not on the operator's list", s.kept)
		}
		restarted := ethereum()
		second := lookup(restarted, usdc, mute, maker)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("after a restart (-first +second):\n%s", diff)
		}
		if len(restarted.asked) != 1 || len(restarted.asked[0]) != 1 || restarted.asked[0][0] != mute {
			t.Errorf("asked again about %v, want the mute contract only", restarted.asked)
		}
	})
}

// TestOneEndpointsWordGoesAfterLists reads tokens that one endpoint describes: lists take precedence, and it is read
// again soon, then less and less often, until another confirms it; until then the stored reading is the fallback.
func TestOneEndpointsWordGoesAfterLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{kept: map[token.Key]token.Reading{}}
		reader := ethereum()
		reader.readings[usdc] = token.Reading{Decimals: new(uint8(18)), Name: "Lie", Symbol: "LIE", IsSingle: true}
		reader.readings[maker] = token.Reading{Decimals: new(uint8(0)), Name: "Maker", Symbol: "MKR", IsSingle: true}
		open := func() *token.Directory {
			return token.NewDirectory(token.DirectoryOptions{
				Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: reader}, Recall: s.recall, Remember: s.remember,
				Listed: func(context.Context, chain.ID) map[chain.Address]token.Token {
					return map[chain.Address]token.Token{maker: {Name: "one endpoint's word, too", IsSingle: true}}
				},
			})
		}
		d := open()
		expect := func(decimals uint8, isSingle bool) {
			t.Helper()
			got := must.Get(d.Lookup(t.Context(), 1, usdc, maker))(t)
			if synctest.Wait(); got[0].Symbol != "USDC" || got[0].Decimals != 6 || got[0].IsSingle {
				t.Errorf("Lookup of a listed token = %+v, want what the list says", got[0])
			}
			if got[1].Decimals != decimals || got[1].IsSingle != isSingle {
				t.Errorf("Lookup of another = %+v, want %d decimals, single: %t", got[1], decimals, isSingle)
			}
		}
		expect(0, true)
		reader.failed = errors.New("no connection")
		d = open()
		expect(0, true)
		reader.failed, reader.asked = nil, nil
		for range 720 {
			pass(5 * time.Second)
			expect(0, true)
		}
		if count := len(reader.asked); count < 8 || count > 10 {
			t.Errorf("read %d times within an hour, want after 5 s, 10 s, 20 s and so on", count)
		}
		for _, reading := range []token.Reading{{Decimals: new(uint8(9)), Symbol: "MKR", IsSingle: true}, {IsSingle: true}} { // then a node without it
			pass(time.Hour)
			reader.readings[maker] = reading
			expect(9, true)
		}
		pass(time.Hour)
		reader.readings[maker] = token.Reading{Decimals: new(uint8(18)), Name: "Maker", Symbol: "MKR"}
		expect(18, false)
		reader.failed = errors.New("no connection")
		d = open()
		expect(18, false)
	})
}

func TestExpectedTokensAreReadMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := ethereum()
		d := token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: reader}})
		began := time.Now()
		d.Expect(t.Context(), token.Key{Chain: 1, Address: usdc}, token.Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}, token.Key{Chain: 10, Address: usdc})
		if time.Since(began) != 0 {
			t.Error("Expect waited")
		}
		<-time.After(700 * time.Millisecond)
		if _, err := d.Lookup(t.Context(), 1, usdc); err != nil || time.Since(began) != time.Second || len(reader.asked) != 1 {
			t.Errorf("Lookup: %v after %v and %d readings, want one reading that took a second in all", err, time.Since(began), len(reader.asked))
		}
	})
}

func TestCleanText(t *testing.T) {
	for said, want := range map[string]string{
		"USD Coin":                   "USD Coin",
		" USDC\x00\x00\x00":          "USDC",
		"a\u202eb\u200b\nc":          "abc",
		"\xff\xfebytes":              "bytes",
		strings.Repeat("é", 1000):    strings.Repeat("é", 256),
		strings.Repeat("\x00", 1000): "",
	} {
		if got := token.CleanText(said); got != want {
			t.Errorf("CleanText(%.40q) = %.40q, want %.40q", said, got, want)
		}
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("USD Coin\x00")
	f.Add("\u202e\xff")
	f.Fuzz(func(t *testing.T, said string) {
		got := token.CleanText(said)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 256 || token.CleanText(got) != got {
			t.Errorf("CleanText(%q) = %q", said, got)
		}
	})
}
