package quote

import (
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/recorded"
)

// executed is a swap that the real router executed, as far as its arithmetic matters.
type executed struct {
	ID    string
	State struct{ SwapVariableFeeBps int }
	Call  struct {
		Args struct {
			SwapDetails struct {
				SurplusShareBps int
			}
		}
	}
	Result     struct{ Status, ActualAmountOut string }
	Arithmetic *struct {
		AmountOut, VariableFee, AffiliateFee, AfterAffiliateFee string
		AffiliateBps                                            int
	}
}

func TestPayoutIsThatOfTheRealRouter(t *testing.T) {
	var recording struct {
		Chains []struct{ Vectors []executed }
	}
	recorded.JSON(t, "golden/router/router-vectors-A.json", &recording)
	checked := 0
	for _, c := range recording.Chains {
		for _, v := range c.Vectors {
			if v.Result.Status != "success" || v.Arithmetic == nil {
				continue
			}
			checked++
			o := newPayout(amount(v.Arithmetic.AmountOut), charges{protocolBps: v.State.SwapVariableFeeBps, affiliateBps: v.Arithmetic.AffiliateBps}, decimal.Zero)
			got := [...]chain.Amount{o.protocolFee, o.affiliateFee, o.net()}
			want := [...]chain.Amount{amount(v.Arithmetic.VariableFee), amount(v.Arithmetic.AffiliateFee), amount(v.Arithmetic.AfterAffiliateFee)}
			if got != want {
				t.Errorf("%s: fee, affiliate and net of %s = %v, want %v", v.ID, v.Arithmetic.AmountOut, got, want)
			}
			if v.Call.Args.SwapDetails.SurplusShareBps == wholeBps && o.net() != amount(v.Result.ActualAmountOut) {
				t.Errorf("%s: net = %s, but the router paid %s", v.ID, o.net(), v.Result.ActualAmountOut)
			}
		}
	}
	if checked == 0 {
		t.Fatal("no executed swap in the recording")
	}
	t.Logf("%d executed swaps agree", checked)
}

// TestMinimumOfTheRealRouterIsReachable: at any slippage, a venue that pays exactly its quote reaches the minimum.
func TestMinimumOfTheRealRouterIsReachable(t *testing.T) {
	for _, gross := range []string{"1", "9999", "10000", "856879454781119419727", "340282366920938463463374607431768211455"} {
		for _, slippage := range []string{"0.001", "0.3", "1", "99.999"} {
			for _, taken := range []charges{{}, {protocolBps: 8}, {protocolBps: 8, affiliateBps: 1000}, {protocolBps: 30, affiliateBps: 1}} {
				o := newPayout(amount(gross), taken, decimal.RequireFromString(slippage))
				if o.minimum.Cmp(o.net()) > 0 {
					t.Errorf("minimum of %s with %+v at %s %% = %s, above the net %s", gross, taken, slippage, o.minimum, o.net())
				}
				costs := o.costs()
				if last := costs[len(costs)-1]; costs[0].AmountIn != o.gross || last.AmountOut != o.minimum {
					t.Errorf("costs of %s = %+v, want a way from the gross outcome to the minimum", gross, costs)
				}
			}
		}
	}
}
