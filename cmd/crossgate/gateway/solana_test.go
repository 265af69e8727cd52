package gateway_test

import (
	"cmp"
	"fmt"
	"testing"
)

// TestOrdersOfSolanaStandAsItsProgramsSay asks for every order from or to Solana, by what the sandbox's
// programs hold of it.
func TestOrdersOfSolanaStandAsItsProgramsSay(t *testing.T) {
	front := startFront(t)
	var world worldJSON
	get(t, front.world.URL()+"/sandbox/world", &world)
	inTransaction := map[string]int{}
	from, to := 0, 0
	for _, o := range world.Orders {
		index := inTransaction[o.CreationTxHash]
		inTransaction[o.CreationTxHash]++
		switch uint64(solanaID) {
		case o.ChainID:
			from++
		case o.TakeChainID:
			to++
		default:
			continue
		}
		t.Run(cmp.Or(o.Title, o.OrderID), func(t *testing.T) {
			var got map[string]any
			get(t, fmt.Sprintf("%s/api/Orders/creationTxHash/%s?index=%d", front.url, o.CreationTxHash, index), &got)
			id, _ := got["orderId"].(map[string]any)
			if got["state"] != o.State || id["stringValue"] != o.OrderID {
				t.Errorf("order %v in state %v, want %s in %s", id["stringValue"], got["state"], o.OrderID, o.State)
			}
		})
	}
	if from < 12 || to < 12 {
		t.Errorf("%d orders from Solana and %d to it, want a dozen each", from, to)
	}
}

// TestLockedAssetsOfSolana asks on behalf of a taker whose orders came from Solana, and of one who
// fulfilled there.
func TestLockedAssetsOfSolana(t *testing.T) {
	front := startFront(t)
	var world struct {
		Actors []struct{ Name, Address, Wallet string }
	}
	get(t, front.world.URL()+"/sandbox/world", &world)
	type locked struct {
		ChainID      struct{ StringValue string }
		LockedTokens []struct {
			DstChainsLockedAmounts []struct{ OrdersToUnlock []any }
		}
	}
	ask := func(taker string) map[string]int {
		var got []locked
		get(t, front.url+"/api/Satistics/"+taker+"/lockedAssets", &got)
		orders := map[string]int{}
		for _, c := range got {
			for _, token := range c.LockedTokens {
				for _, target := range token.DstChainsLockedAmounts {
					orders[c.ChainID.StringValue] += len(target.OrdersToUnlock)
				}
			}
		}
		return orders
	}
	for _, actor := range world.Actors {
		switch actor.Name {
		case "courier":
			if got := ask(actor.Address); got["7565164"] != 5 || len(got) != 1 {
				t.Errorf("orders locked for the courier by chain = %v, want 5 on Solana", got)
			}
		case "taker 3":
			if got := ask(actor.Wallet); got["137"] != 4 || len(got) != 1 {
				t.Errorf("orders locked for the third taker's wallet by chain = %v, want 4 on Polygon", got)
			}
		}
	}
}
