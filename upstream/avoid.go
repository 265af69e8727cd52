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

// postpone moves endpoints with these names behind the others of an order.
func (p *Pool) postpone(order []int, names []string) []int {
	if len(names) == 0 {
		return order
	}
	isAvoided := func(index int) bool { return slices.Contains(names, p.endpoints[index].name) }
	postponed := slices.DeleteFunc(slices.Clone(order), isAvoided)
	for _, index := range order {
		if isAvoided(index) {
			postponed = append(postponed, index)
		}
	}
	return postponed
}
