package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/token"
)

// TestTokenListsAreReplacedAsAWhole has both databases.
func TestTokenListsAreReplacedAsAWhole(t *testing.T) {
	usdc := token.Key{Chain: 1, Address: chain.NewAddress([]byte("usdc of twenty bytes"))}
	mint := token.Key{Chain: chain.Solana, Address: chain.NewAddress([]byte("a mint that has thirty-two bytes"))}
	for name, db := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		ctx, now := t.Context(), time.Unix(1_800_000_000, 0)
		for i, tokens := range []map[token.Key]token.Token{
			{usdc: {Decimals: 6, Name: "USD Coin", Symbol: "USDC"}},
			{mint: {Decimals: 9, Name: "通用代币", Symbol: "🌉", LogoURI: "https://logos.example/1.png"}},
		} {
			if err := db.ReplaceTokenList(ctx, Lease{}, "one", `"etag"`, now, tokens); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := db.KeepTokenList(ctx, Lease{}, "one", now.Add(time.Hour)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := db.ListedTokens(ctx, "one")
			if diff := cmp.Diff(tokens, got, compare); err != nil || diff != "" {
				t.Errorf("%s: tokens (-stored +got): %v\n%s", name, err, diff)
			}
			lists, err := db.TokenLists(ctx)
			want := map[string]TokenList{"one": {ETag: `"etag"`, Read: now.Add(time.Hour), Changes: int64(i + 1)}}
			if diff := cmp.Diff(want, lists); err != nil || diff != "" {
				t.Errorf("%s: lists (-want +got): %v\n%s", name, err, diff)
			}
		}
		if got, err := db.ListedTokens(ctx, "another"); err != nil || len(got) != 0 {
			t.Errorf("%s: tokens of a list that is not there: %v, %v", name, got, err)
		}
	}
}
