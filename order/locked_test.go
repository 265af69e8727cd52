package order_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/order"
)

func lock(id byte, give chain.ID, token string, take chain.ID, amount uint64) order.Lock {
	return order.Lock{
		Order:     order.ID{id},
		Give:      order.Offer{Chain: give, Token: address(token), Amount: chain.NewAmount(amount)},
		TakeChain: take,
	}
}

func TestLockedGroupsAndSums(t *testing.T) {
	locks := []order.Lock{
		lock(3, 1, "usdc", 137, 30), lock(1, 1, "usdc", 137, 10), lock(2, 1, "usdc", 56, 20),
		lock(4, 1, "dai", 137, 40), lock(5, 137, "usdc", 1, 50),
	}
	target := func(id chain.ID, amount uint64, orders ...byte) order.LockedTarget {
		t := order.LockedTarget{Chain: id, Amount: chain.NewAmount(amount)}
		for _, o := range orders {
			t.Orders = append(t.Orders, order.ID{o})
		}
		return t
	}
	token := func(name string, amount uint64, targets ...order.LockedTarget) order.LockedToken {
		return order.LockedToken{Token: address(name), Amount: chain.NewAmount(amount), Targets: targets}
	}
	want := []order.LockedChain{
		{Chain: 1, Tokens: []order.LockedToken{
			token("dai", 40, target(137, 40, 4)),
			token("usdc", 60, target(56, 20, 2), target(137, 40, 1, 3)),
		}},
		{Chain: 137, Tokens: []order.LockedToken{token("usdc", 50, target(1, 50, 5))}},
	}
	rapid.Check(t, func(t *rapid.T) {
		got := order.Locked(rapid.Permutation(locks).Draw(t, "sequence"))
		if diff := cmp.Diff(want, got, compare); diff != "" {
			t.Fatalf("Locked (-want +got):\n%s", diff)
		}
	})
	if got := order.Locked(nil); len(got) != 0 {
		t.Errorf("Locked(nil) = %v", got)
	}
}

func TestLockFromFulfilmentToClaim(t *testing.T) {
	tests := []struct {
		name   string
		events []order.Event
		want   bool
	}{
		{"created", []order.Event{created}, false},
		{"fulfilled", []order.Event{created, fulfilled}, true},
		{"unlock sent", []order.Event{created, fulfilled, sentUnlock}, true},
		{"claimed", []order.Event{created, fulfilled, sentUnlock, claimedUnlock}, false},
		{"never created", []order.Event{fulfilled, sentUnlock}, false},
		{"cancelled", []order.Event{created, sentCancel}, false},
	}
	for _, test := range tests {
		o, _ := order.Fold(test.events)
		if _, locked := o.Lock(); locked != test.want {
			t.Errorf("%s: locked %v, want %v", test.name, locked, test.want)
		}
	}
	o, _ := order.Fold([]order.Event{created, giveIncreased, fulfilled})
	l, _ := o.Lock()
	if l.Give.Amount != chain.NewAmount(1100) || l.TakeChain != takeChain {
		t.Errorf("lock %+v, want the patched amount 1100 from chain %d", l, takeChain)
	}
}
