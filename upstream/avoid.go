package upstream

import (
	"context"
	"slices"
)

type avoidedKey struct{}

// Avoiding has the endpoints with these names asked after all others: for a second opinion on what they said, or since
// they are known to err. It adds to what ctx avoids already.
func Avoiding(ctx context.Context, names ...string) context.Context {
	all := slices.Concat(Avoided(ctx), names)
	slices.Sort(all)
	return context.WithValue(ctx, avoidedKey{}, slices.Compact(all))
}

// Avoided lists the endpoints that are asked after all others, sorted.
func Avoided(ctx context.Context) []string {
	names, _ := ctx.Value(avoidedKey{}).([]string)
	return names
}
