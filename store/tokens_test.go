package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/token"
)

func TestTokensOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	six, zero := uint8(6), uint8(0)
	usdc := token.Key{Chain: 1, Address: chain.NewAddress([]byte("usdc of twenty bytes"))}
	same := token.Key{Chain: 137, Address: usdc.Address}
	single := token.Key{Chain: 10, Address: usdc.Address}
	solana := token.Key{Chain: chain.Solana, Address: chain.NewAddress([]byte("a mint that has thirty-two bytes"))}
	silent := token.Key{Chain: 1, Address: chain.NewAddress([]byte("a contract that told nothing"))}
	readings := map[token.Key]token.Reading{
		usdc:   {Decimals: &six, Name: `USD "Coin" '; DROP TABLE tokens --`, Symbol: "USDC"},
		same:   {Decimals: &zero},
		solana: {Decimals: &six, Name: "通用代币 🌉", Symbol: "🌉"},
		silent: {Symbol: "?"},
		single: {Decimals: &zero, IsSingle: true},
	}
	keys := []token.Key{usdc, same, solana, silent, single, {Chain: 1, Address: chain.NewAddress([]byte("unknown"))}}

	first := must.Get(OpenSQLite(t.Context(), path))(t)
	for range 2 { // saving them again is not an error
		must.Do(t, first.SaveTokens(t.Context(), readings))
	}
	readings[single] = token.Reading{Decimals: &six, Symbol: "ONE"}
	must.Do(t, first.SaveTokens(t.Context(), map[token.Key]token.Reading{single: readings[single], usdc: {Decimals: &zero, IsSingle: true}}))
	must.Do(t, first.Close())
	got := must.Get(openStoreAt(t, path).Tokens(t.Context(), keys))(t)
	delete(readings, silent)
	if diff := cmp.Diff(readings, got, compare); diff != "" {
		t.Errorf("tokens after a restart (-want +got):\n%s", diff)
	}
}

func TestManyTokensAreReadAtOnce(t *testing.T) {
	store := openStore(t)
	decimals := uint8(18)
	readings, keys := map[token.Key]token.Reading{}, []token.Key(nil)
	for i := range 1234 {
		key := token.Key{Chain: 1, Address: chain.NewAddress(fmt.Appendf(nil, "token %014d", i))}
		readings[key], keys = token.Reading{Decimals: &decimals, Name: fmt.Sprint(i)}, append(keys, key)
	}
	must.Do(t, store.SaveTokens(t.Context(), readings))
	got, err := store.Tokens(t.Context(), keys)
	if err != nil || len(got) != len(keys) {
		t.Errorf("Tokens = %d of %d, %v", len(got), len(keys), err)
	}
}

// TestOrderedTokensAreThoseOfMostOrders covers both databases.
func TestOrderedTokensAreThoseOfMostOrders(t *testing.T) {
	for name, db := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		six := uint8(6)
		readings := map[token.Key]token.Reading{}
		for i := range 4 {
			key := token.Key{Chain: chain.ID(1 + i/3), Address: chain.NewAddress(fmt.Appendf(nil, "token %014d", i))}
			readings[key] = token.Reading{Decimals: &six, Symbol: fmt.Sprint(i), Name: fmt.Sprint("token ", i)}
			must.Do(t, db.Update(t.Context(), func(tx *Tx) error {
				_, err := tx.ExecContext(t.Context(), `INSERT INTO order_tokens (day, chain, address, orders) VALUES (1, $1, $2, $3)`,
					key.Chain, Blob(key.Address.Bytes()), i+1)
				return err
			}))
		}
		readings[token.Key{Chain: 1, Address: chain.NewAddress([]byte("one of a swap alone."))}] = token.Reading{Decimals: &six, Symbol: "SWAPPED"}
		must.Do(t, db.SaveTokens(t.Context(), readings))
		got, err := db.OrderedTokens(t.Context(), 1, 2)
		var symbols []string
		for _, each := range got {
			symbols = append(symbols, each.Symbol)
		}
		slices.Sort(symbols)
		if err != nil || !slices.Equal(symbols, []string{"1", "2"}) {
			t.Errorf("%s: OrderedTokens = %v, %v, want the two of most orders", name, symbols, err)
		}
	}
}

func TestVenueDaysAddUp(t *testing.T) {
	for name, db := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				must.Do(t, db.AddVenueDays(t.Context(), []quote.VenueDay{
					{Day: 3, Venue: "a", Quoted: 5, Won: 2, Contested: 1, Gain: -7},
					{Day: 4, Venue: "a", Quoted: 1, Won: 1},
					{Day: 4, Venue: "b", Quoted: 6, Won: 5, Contested: 5, Gain: 50},
					{Day: 5, Venue: "b", Quoted: 1},
				}))
			}
			want := []quote.VenueDay{
				{Venue: "b", Quoted: 12, Won: 10, Contested: 10, Gain: 100}, {Venue: "a", Quoted: 12, Won: 6, Contested: 2, Gain: -14},
			}
			got, err := db.Venues(t.Context(), 3, 4)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("of days 3 and 4: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
