package order_test

import (
	"slices"
	"testing"

	"crossgate/order"
)

func TestDifferingBlocks(t *testing.T) {
	at := func(block uint64, said string) order.Place { return order.Place{Block: block, Said: said} }
	for name, test := range map[string]struct {
		a, b []order.Place
		want []uint64
	}{
		"nothing":         {},
		"another order":   {[]order.Place{at(1, "x"), at(2, "y")}, []order.Place{at(2, "y"), at(1, "x")}, nil},
		"one lacks":       {[]order.Place{at(1, "x"), at(2, "y")}, []order.Place{at(1, "x")}, []uint64{2}},
		"other lacks":     {nil, []order.Place{at(3, "x"), at(1, "x")}, []uint64{1, 3}},
		"says other":      {[]order.Place{at(5, "x")}, []order.Place{at(5, "y")}, []uint64{5}},
		"told once twice": {[]order.Place{at(5, "x"), at(5, "x")}, []order.Place{at(5, "x")}, []uint64{5}},
	} {
		if got := order.DifferingBlocks(test.a, test.b); !slices.Equal(got, test.want) {
			t.Errorf("%s: DifferingBlocks() = %v, want %v", name, got, test.want)
		}
	}
}
