package sandbox

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
)

// offered creates an order of the first maker that asks for what the taker would give, plus a number of thousandths.
func offered(t *testing.T, w *World, give, take Token, amount string, more int64) Order {
	t.Helper()
	p := newProposal(w.cast.makers[0], w.salt(w.now()), give, give.units(amount), take, common.Big1)
	probe := must.Get(w.create(t.Context(), w.now(), p))(t)[0]
	most := must.Get(w.takeAmount(t.Context(), probe, 2))(t)
	p.salt, p.takeAmount = w.salt(w.now()), most.Add(most, new(big.Int).Quo(new(big.Int).Mul(most, big.NewInt(more)), big.NewInt(1000)))
	made := must.Get(w.create(t.Context(), w.now(), p))(t)[0]
	must.Do(t, w.sendCancel(t.Context(), w.now(), probe, w.cast.makers[0], w.cast.makers[0].on(give.Chain)))
	return made
}

// TestTheTakerFulfilsWhatPays covers pairs of chain families and kinds of tokens: an order for a thousandth less than
// the taker would give is fulfilled, unlocked and claimed; one for a thousandth more is left.
func TestTheTakerFulfilsWhatPays(t *testing.T) {
	w := open(t, Options{})
	ethereum, onPolygon, onBase, tron := w.chains[0], w.chains[1], w.chains[2], w.chains[4]
	for _, pair := range [][2]Token{
		{ethereum.token(usdc), onPolygon.token(usdc)},
		{ethereum.coin(), onBase.coin()},
		{onBase.coin(), onPolygon.token(dai)},
		{onPolygon.token(usdc), ethereum.token(wbtc)},
		{ethereum.token(usdc), w.solana.token(usdc)},
		{onBase.token(usdc), w.solana.coin()},
		{w.solana.token(usdc), onPolygon.coin()},
		{tron.token(usdt), onBase.token(usdc)},
		{onBase.token(usdc), tron.token(usdt)},
	} {
		give, take := pair[0], pair[1]
		t.Run(give.Symbol+" on "+give.Chain.String()+" for "+take.Symbol+" on "+take.Chain.String(), func(t *testing.T) {
			amount := map[bool]string{true: "0.5", false: "500"}[give.isCoin()]
			paying := []Order{
				offered(t, w, give, take, amount, -1), offered(t, w, give, take, amount, -2),
			}
			dear := offered(t, w, give, take, amount, 1)
			done := must.Get(w.take(t.Context(), 2))(t)
			if len(done.Fulfilled) != 2 || len(done.Claimed) != 2 {
				t.Errorf("take = %+v, want %s and %s fulfilled", done, paying[0].ID, paying[1].ID)
			}
			if !strings.Contains(done.Left[dear.ID], "the taker would give") {
				t.Errorf("left %q, want that the taker would give less", done.Left[dear.ID])
			}
			for _, o := range paying {
				if state, err := w.State(t.Context(), o); err != nil || state != order.StateClaimedUnlock {
					t.Errorf("order %s is %s, %v, want %s", o.ID, state, err, order.StateClaimedUnlock)
				}
			}
			if state := must.Get(w.State(t.Context(), dear))(t); state != order.StateCreated {
				t.Errorf("the dear order is %s", state)
			}
		})
	}
}

// TestTheTakerLooksAtNewBlocks proves that the taker finds new orders by itself.
func TestTheTakerLooksAtNewBlocks(t *testing.T) {
	w := open(t, Options{Batch: 1})
	heads := make(chan core.ChainHeadEvent, 64)
	defer w.chains[0].node.eth.BlockChain().SubscribeChainHeadEvent(heads).Unsubscribe()
	made := steer(t, w, "create", map[string]any{
		"chainId": 1, "takeChainId": 7565164, "giveToken": "USDC", "giveAmount": "100", "takeToken": "USDC", "takeAmount": "90",
	})
	o := must.Get(w.Order(t.Context(), made.OrderID))(t)
	for state := order.StateCreated; state != order.StateClaimedUnlock; state = must.Get(w.State(t.Context(), o))(t) {
		select {
		case <-heads:
		case <-t.Context().Done():
			t.Fatalf("order %s is %s", made.OrderID, state)
		}
	}
	if o.TakeChain() != chain.Solana {
		t.Errorf("the order is for chain %s", o.TakeChain())
	}
}
