package sandbox

import (
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/sandbox/contracts"
	"crossgate/sandbox/venues"
)

func deal(in, out Token, amountIn *big.Int, pools ...Pool) venues.RouterOrder {
	order := venues.RouterOrder{
		TokenIn: in.Address, TokenOut: out.Address, AmountIn: amountIn, MinAmountOut: new(big.Int),
		Recipient: madeAddress("recipient"),
		Plan:      venues.Plan{Deadline: forever()},
	}
	for _, p := range pools {
		order.Plan.Pools = append(order.Plan.Pools, p.Address)
	}
	return order
}

// poolOf finds the pool of two tokens in a tier, with its present reserves.
func (c *Chain) poolOf(t *testing.T, a, b Token, feeBps uint64) Pool {
	t.Helper()
	for _, p := range c.Pools {
		found := p.Token0.Address == a.Address && p.Token1.Address == b.Address || p.Token0.Address == b.Address && p.Token1.Address == a.Address
		if found && p.FeeBps == feeBps {
			values, err := c.read(t.Context(), contracts.Pool, p.Address, "getReserves")
			if err != nil {
				t.Fatal(err)
			}
			p.reserves = [2]*big.Int{values[0].(*big.Int), values[1].(*big.Int)}
			return p
		}
	}
	t.Fatalf("no pool of %s and %s with %d bps", a.Symbol, b.Symbol, feeBps)
	return Pool{}
}

// outcome is the constant-product formula.
func (p Pool) outcome(in Token, amountIn *big.Int) *big.Int {
	reserveIn, reserveOut := p.reserves[0], p.reserves[1]
	if in.Address == p.Token1.Address {
		reserveIn, reserveOut = reserveOut, reserveIn
	}
	afterFee := new(big.Int).Mul(amountIn, new(big.Int).SetUint64(10_000-p.FeeBps))
	denominator := new(big.Int).Mul(reserveIn, big.NewInt(10_000))
	return new(big.Int).Div(new(big.Int).Mul(afterFee, reserveOut), denominator.Add(denominator, afterFee))
}

func lessBps(amount *big.Int, bps int64) *big.Int {
	return new(big.Int).Sub(amount, bpsOf(amount, bps))
}

func bpsOf(amount *big.Int, bps int64) *big.Int {
	part := new(big.Int).Mul(amount, big.NewInt(bps))
	return part.Div(part, big.NewInt(10_000))
}

func (c *Chain) balance(t *testing.T, token Token, of common.Address) *big.Int {
	t.Helper()
	if token.Address == (common.Address{}) {
		balance, err := c.node.client.BalanceAt(t.Context(), of, nil)
		if err != nil {
			t.Fatal(err)
		}
		return balance
	}
	return c.readBig(t, contracts.Token, token.Address, "balanceOf", of)
}

func TestVenueRoutersSwap(t *testing.T) {
	w := grown(t)
	c, user := w.Chains()[0], w.Accounts()[2]
	wrapped, stable, btc, router := c.Tokens[0], c.token(usdc), c.token(wbtc), common.HexToAddress(venues.Routers("velora", c.Facts.Native)[0])

	t.Run("token for coin over two pools, with shares and a fee", func(t *testing.T) {
		amount := units("20000", 6)
		first, second := c.poolOf(t, stable, btc, 5), c.poolOf(t, btc, wrapped, 30)
		order := deal(stable, c.coin(), amount, first, second)
		payees := []venues.Share{{Recipient: madeAddress("affiliate"), Bps: 50}, {Recipient: madeAddress("operator"), Bps: 20}}
		order.Plan.Shares, order.Plan.OutputFeeBps = payees, 10
		shares := [...]*big.Int{bpsOf(amount, 50), bpsOf(amount, 20)}
		afterFee := new(big.Int).Sub(amount, new(big.Int).Add(shares[0], shares[1]))
		want := lessBps(second.outcome(btc, first.outcome(stable, afterFee)), 10)
		order.MinAmountOut = want

		send(t, c, user, stable.Address, nil, contracts.Token.Pack("approve", router, amount))
		receipt := send(t, c, user, router, nil, contracts.VenueRouter.Pack("swapOrder", order))
		if receipt.Status != types.ReceiptStatusSuccessful {
			t.Fatal("the swap reverted")
		}
		if got := c.balance(t, c.coin(), order.Recipient); got.Cmp(want) != 0 {
			t.Errorf("recipient received %s, want %s", got, want)
		}
		for i, payee := range payees {
			if got := c.balance(t, stable, payee.Recipient); got.Cmp(shares[i]) != 0 {
				t.Errorf("payee %d received %s, want %s", i, got, shares[i])
			}
		}
		value := new(big.Rat).Quo(new(big.Rat).SetInt(want), new(big.Rat).SetInt(units("1", 18)))
		if usd, _ := value.Mul(value, big.NewRat(3000, 1)).Float64(); usd < 19_000 || usd > 20_000 {
			t.Errorf("20000 USD bought %.0f USD, want a little less", usd)
		}
	})
	t.Run("coin for token", func(t *testing.T) {
		amount, pool := units("2", 18), c.poolOf(t, wrapped, c.token(dai), 30)
		order := deal(c.coin(), c.token(dai), amount, pool)
		order.TokenIn = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
		receipt := send(t, c, user, router, amount, contracts.VenueRouter.Pack("swapOrder", order))
		if got, want := c.balance(t, c.token(dai), order.Recipient), pool.outcome(wrapped, amount); receipt.Status != 1 || got.Cmp(want) != 0 {
			t.Errorf("status %d, recipient received %s, want %s", receipt.Status, got, want)
		}
	})
	t.Run("coin for the wrapped coin", func(t *testing.T) {
		order := deal(c.coin(), wrapped, units("1", 18))
		send(t, c, user, router, order.AmountIn, contracts.VenueRouter.Pack("swapOrder", order))
		if got := c.balance(t, wrapped, order.Recipient); got.Cmp(order.AmountIn) != 0 {
			t.Errorf("recipient received %s, want all of %s", got, order.AmountIn)
		}
	})
	t.Run("refuses less than the minimum", func(t *testing.T) {
		amount, pool := units("1", 18), c.poolOf(t, wrapped, stable, 5)
		order := deal(c.coin(), stable, amount, pool)
		order.MinAmountOut = new(big.Int).Add(pool.outcome(wrapped, amount), common.Big1)
		_, err := c.execute(t.Context(), w.now(), call{user, router, amount, contracts.VenueRouter.Pack("swapOrder", order)})
		if err == nil || !strings.Contains(err.Error(), "MinReturnNotReached") {
			t.Errorf("swap below the minimum: %v, want MinReturnNotReached", err)
		}
	})
}

func TestPoolRouterIsUniswapV2(t *testing.T) {
	w := grown(t)
	for _, c := range w.Chains() {
		if c.spec.poolRouter == "" {
			continue
		}
		router, wrapped, stable := common.HexToAddress(c.spec.poolRouter), c.Tokens[0], c.token(usdc)
		amount := units("3", 18)
		path := []common.Address{wrapped.Address, stable.Address}
		values, err := c.read(t.Context(), contracts.PoolRouter, router, "getAmountsOut", amount, path)
		if err != nil {
			t.Fatal(err)
		}
		want := c.poolOf(t, wrapped, stable, 30).outcome(wrapped, amount)
		if got := values[0].([]*big.Int)[1]; got.Cmp(want) != 0 {
			t.Errorf("chain %s: getAmountsOut = %s, want %s", c.Facts.ID, got, want)
		}
		recipient := madeAddress("recipient")
		data := contracts.PoolRouter.Pack("swapExactETHForTokens", want, path, recipient, forever())
		if _, err := c.execute(t.Context(), w.now(), call{w.Accounts()[0], router, amount, data}); err != nil {
			t.Fatal(err)
		}
		if got := c.balance(t, stable, recipient); got.Cmp(want) != 0 {
			t.Errorf("chain %s: recipient received %s, want %s", c.Facts.ID, got, want)
		}
	}
}

func TestPricesAgreeAcrossPools(t *testing.T) {
	for _, c := range untouched.Chains() {
		for _, p := range c.Pools {
			left := new(big.Rat).SetFrac(p.reserves[0], p.Token0.units("1"))
			right := new(big.Rat).SetFrac(p.reserves[1], p.Token1.units("1"))
			price, _ := left.Quo(left, right).Float64()
			if want := p.Token1.USD / p.Token0.USD; price < want*0.9999 || price > want*1.0001 {
				t.Errorf("chain %s: pool %s/%s prices %f, want %f", c.Facts.ID, p.Token0.Symbol, p.Token1.Symbol, price, want)
			}
		}
	}
}

func TestVenuesAndPricesAreServed(t *testing.T) {
	w := untouched
	status, body := request(t, http.MethodGet, w.Prices().URL+"/prices/current/ethereum:"+w.Chains()[0].token(usdc).Address.Hex(), nil)
	if status != http.StatusOK || !strings.Contains(string(body), "USDC") {
		t.Errorf("price of USDC = %d %s", status, body)
	}
	for _, v := range w.Venues() {
		if status, body := request(t, http.MethodGet, v.URL+"/", nil); status == http.StatusNotFound && strings.Contains(string(body), "GET / lists") {
			t.Errorf("venue %s is not served: %s", v.Name, body)
		}
	}
}
