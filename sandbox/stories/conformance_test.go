package stories_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/mr-tron/base58"
)

// TestAnswersAreWhatTheChainsSay asks for everything there is in one world.
func TestAnswersAreWhatTheChainsSay(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	var world worldJSON
	get(t, front.world.URL()+"/sandbox/world", &world)
	outsider := newOutsider(t, world)
	t.Run("orders", func(t *testing.T) { outsider.checkOrders(t, front, world) })
	t.Run("locked assets", func(t *testing.T) { outsider.checkLocked(t, front, world) })
}

func (o *outsider) checkOrders(t *testing.T, front front, world worldJSON) {
	fromSolana, toSolana := 0, 0
	for _, each := range world.Orders {
		switch uint64(solanaID) {
		case each.ChainID:
			fromSolana++
		case each.TakeChainID:
			toSolana++
		}
		t.Run(cmp.Or(each.Title, each.OrderID), func(t *testing.T) {
			want, isTold := o.orders[common.HexToHash(each.OrderID)]
			if !isTold {
				t.Fatal("the chains do not tell of it")
			}
			var got map[string]any
			get(t, fmt.Sprintf("%s/api/Orders/creationTxHash/%s?index=%d", front.url, each.CreationTxHash, o.indexOf(want)), &got)
			compare(t, "", got, want.record)
			if got["state"] != each.State {
				t.Errorf("state = %v, want %s as the contracts' readers say", got["state"], each.State)
			}
		})
	}
	if len(world.Orders) < 110 || len(o.orders) != len(world.Orders) {
		t.Errorf("the world shows %d orders, its chains %d, want the same number and at least 110", len(world.Orders), len(o.orders))
	}
	if fromSolana < 12 || toSolana < 12 {
		t.Errorf("%d orders from Solana and %d to it, want a dozen each", fromSolana, toSolana)
	}
}

// reporter takes note of differences: a test.
type reporter interface {
	Helper()
	Errorf(format string, a ...any)
}

// compare wants every member of want in got. Members that an outsider cannot tell, such as USD values
// and the names of native coins, are missing in want.
func compare(t reporter, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		object, isObject := got.(map[string]any)
		if !isObject {
			t.Errorf("%s = %v, want %v", path, got, want)
			return
		}
		for name, value := range want {
			compare(t, path+"."+name, object[name], value)
		}
	case []any:
		list, isList := got.([]any)
		if !isList || len(list) != len(want) {
			t.Errorf("%s = %v, want %v", path, got, want)
			return
		}
		for i, value := range want {
			compare(t, fmt.Sprintf("%s[%d]", path, i), list[i], value)
		}
	default:
		if got != want {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
	}
}

func (o *outsider) checkLocked(t *testing.T, front front, world worldJSON) {
	for _, actor := range world.Actors {
		address := common.HexToAddress(actor.Address).Bytes()
		wallet, err := base58.Decode(actor.Wallet)
		if err != nil {
			t.Fatal(err)
		}
		delivered, onSolana := o.lockedOf(address), o.lockedOf(wallet)
		if isTaker := strings.HasPrefix(actor.Name, "taker "); isTaker && (len(delivered) < 2 || len(onSolana) < 1) {
			t.Errorf("%s has orders locked on %d chains, and on %d for deliveries on Solana, want several and one",
				actor.Name, len(delivered), len(onSolana))
		}
		if actor.Name == "courier" && len(delivered) != 1 {
			t.Errorf("the courier has orders locked on %d chains, want them on Solana alone", len(delivered))
		}
		for spelling, want := range map[string][]any{
			actor.Address: delivered, addressText(address, tronID): delivered, actor.Wallet: onSolana,
		} {
			var got []any
			get(t, front.url+"/api/Satistics/"+spelling+"/lockedAssets", &got)
			compare(t, actor.Name+" as "+spelling, got, want)
		}
	}
}

// lockedOf groups what taker, in the bytes of its address, delivered and was not paid for.
func (o *outsider) lockedOf(taker []byte) []any {
	type group struct{ give, token, take string }
	groups := map[group][]*told{}
	for _, each := range o.orders {
		authority := each.record["unlockAuthorityDst"].(map[string]any)["stringValue"]
		taker := addressText(taker, each.created.TakeChainId.Uint64())
		if state := each.record["state"]; (state != "Fulfilled" && state != "SentUnlock") || authority != taker {
			continue
		}
		g := group{padded(each.created.GiveChainId), common.Bytes2Hex(each.created.GiveTokenAddress), padded(each.created.TakeChainId)}
		groups[g] = append(groups[g], each)
	}
	keys := make([]group, 0, len(groups))
	for g := range groups {
		keys = append(keys, g)
	}
	slices.SortFunc(keys, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.give, b.give), cmp.Compare(a.token, b.token), cmp.Compare(a.take, b.take))
	})
	var chains []any
	var chainID, tokenAddress string
	var locked, token map[string]any
	total := new(big.Int)
	for _, g := range keys {
		first := groups[g][0]
		if g.give != chainID {
			chainID, tokenAddress = g.give, ""
			locked = map[string]any{"chainId": numberJSON(first.created.GiveChainId), "lockedTokens": []any{}}
			chains = append(chains, locked)
		}
		offer := first.record["giveOfferWithMetadata"].(map[string]any)
		if g.token != tokenAddress {
			tokenAddress, total = g.token, new(big.Int)
			token = map[string]any{"tokenAddress": offer["tokenAddress"], "tokenMetadata": offer["metadata"], "dstChainsLockedAmounts": []any{}}
			locked["lockedTokens"] = append(locked["lockedTokens"].([]any), token)
		}
		target, sum := targetJSON(groups[g])
		total.Add(total, sum)
		token["tokenAmount"] = unitsJSON(total, offer)
		token["dstChainsLockedAmounts"] = append(token["dstChainsLockedAmounts"].([]any), target)
	}
	return chains
}

func targetJSON(orders []*told) (target map[string]any, sum *big.Int) {
	slices.SortFunc(orders, func(a, b *told) int { return cmp.Compare(a.id(), b.id()) })
	sum = new(big.Int)
	ids := []any{}
	for _, each := range orders {
		final := each.record["giveOfferWithMetadata"].(map[string]any)["finalAmount"].(map[string]any)["stringValue"].(string)
		amount, _ := new(big.Int).SetString(final, 10)
		sum.Add(sum, amount)
		ids = append(ids, each.record["orderId"])
	}
	return map[string]any{
		"targetChainId":       numberJSON(orders[0].created.TakeChainId),
		"dstChainTokenAmount": unitsJSON(sum, orders[0].record["giveOfferWithMetadata"].(map[string]any)),
		"ordersToUnlock":      ids,
	}, sum
}

func (t *told) id() string { return t.record["orderId"].(map[string]any)["stringValue"].(string) }

// unitsJSON writes an amount in whole tokens, without an exponent and without trailing zeros.
func unitsJSON(amount *big.Int, offer map[string]any) json.Number {
	decimals, err := offer["metadata"].(map[string]any)["decimals"].(json.Number).Int64()
	if err != nil {
		panic(err)
	}
	units := new(big.Rat).SetFrac(amount, new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
	text := units.FloatString(int(decimals))
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return json.Number(text)
}

func padded(n *big.Int) string { return fmt.Sprintf("%078d", n) }
