package venue

// Velora (once ParaSwap) Market API v6.2: https://developers.velora.xyz

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
)

// velora prices with GET /prices, without a wallet, and builds with POST /transactions, which only the winner needs.
var velora = register(service{
	// The limit is not published; /swap has a lower one than the two calls used here.
	Service: Service{
		Name: "velora", URL: "https://api.paraswap.io", Source: "github VeloraDEX/paraswap-sdk",
		Accepts: []string{"partner", excludedSources}, // partner is agreed with the venue, which charges 0.01 % without one
	},
	// Its partner fee is taken from the output, not from the input: no affiliate share.
	profile: quote.Profile{ImageURL: "https://velora.xyz/favicon.ico"},
	header:  "X-Api-Key=$key",
	asks: requestTemplate{ // the version defaults to 5, which is no longer maintained
		path: "prices",
		query: "srcToken=$in srcDecimals=$inDecimals destToken=$out destDecimals=$outDecimals amount=$amount side=SELL " +
			"network=$chain version=6.2 partner=$partner excludeDEXS=$excludedSources",
	},
	answers: answerTemplate{
		in: "priceRoute.srcAmount", out: "priceRoute.destAmount", gas: "priceRoute.gasCost", spender: "priceRoute.contractAddress",
		signed: "priceRoute",
	},
	finish: readVeloraRoute,
	// The signed route is returned untouched, with the minimum as an unrounded amount. Balance and allowance may come
	// later: no checks. Addresses must have a checksum.
	builds: &requestTemplate{
		path: "transactions/$chain", query: "ignoreChecks=true",
		body: "priceRoute:=$route srcToken=$in srcDecimals:=$inDecimals destToken=$out destDecimals:=$outDecimals srcAmount=$amount " +
			"destAmount=$veloraLeast userAddress=$mixSender receiver=$mixRecipient partner=$partner deadline:=$deadline",
	},
	built: answerTemplate{to: "to", value: "value", data: "data"},
	refuses: refusals{ // a text without a code, sometimes with the HTTP status 200
		state: "error", words: "error", limited: regexp.MustCompile(`^Rate limit`),
		unrouted: regexp.MustCompile(`^(No routes found|ESTIMATED_LOSS_GREATER_THAN_MAX_IMPACT|Too much slippage|Bad USD Price)`),
	},
	contracts: []deployment{{
		chains:  []uint64{1, 10, 56, 100, 137, 146, 8453, 42161, 43114},
		routers: []string{"0x6A000F20005980200259B80c5102003040001068"}, // Augustus v6.2, also the spender
	}},
	functions: readsCalls(
		function{signature: "swapExactAmountIn(address,(" + veloraData + "),uint256 fee,bytes,bytes)", refine: veloraRefine},
		function{signature: "swapExactAmountInOnUniswapV2((" + veloraData + ",bytes),uint256 fee,bytes)", refine: veloraRefine},
		function{signature: "swapExactAmountInOnUniswapV3((" + veloraData + ",bytes),uint256 fee,bytes)", refine: veloraRefine},
		function{signature: "swapExactAmountInOnCurveV1((uint256,uint256," + veloraData + "),uint256 fee,bytes)", refine: veloraRefine},
		function{signature: "swapExactAmountInOnCurveV2((uint256,uint256,uint256,address," + veloraData + "),uint256 fee,bytes)", refine: veloraRefine},
	),
})

// veloraData is the beginning of structs of Augustus v6.2; the sixth member is metadata.
const veloraData = "address in,address out,uint256 amount,uint256 least,uint256 quoted,bytes32,address payeeOrCaller"

const (
	veloraFeeBits = 0x3fff // of partnerAndFee: basis points of the output
	veloraMostFee = 200    // basis points; the contract lowers larger ones
)

// veloraRefine lowers the minimum: the contract takes the fee after checking it, keeps surplus over the quoted amount,
// and leaves itself one unit.
func veloraRefine(d *decoded, c *quote.Call) error {
	if quoted := d.amount("quoted"); quoted.Cmp(c.MinOut) < 0 {
		c.MinOut = quoted
	}
	fee := d.argument("fee").word()
	bps := min(binary.BigEndian.Uint64(fee[words.Size-8:])&veloraFeeBits, veloraMostFee)
	c.MinOut = c.MinOut.Sub(c.MinOut.MulDiv(bps, wholeBps)).Sub(chain.NewAmount(1))
	return d.err
}

// veloraRoute is the output before the venue's fee, and the fee.
type veloraRoute struct {
	gross      chain.Amount
	feePercent decimal.Decimal
}

// readVeloraRoute deducts the fee from the output: in recorded answers destAmount is before partnerFee, in percent.
func readVeloraRoute(a reply, _ quote.Profile, _ quote.Swap, o proposal) (proposal, error) {
	fee := a.text("priceRoute.partnerFee")
	percent, valid := quote.ParsePercent(cmp.Or(fee, "0"))
	if !valid || percent.GreaterThan(decimal.NewFromInt(100)) {
		return o, fmt.Errorf("partner fee of %q", clean(fee))
	}
	o.route = veloraRoute{o.out, percent}
	o.out = o.out.Sub(quote.Share(o.out, percent))
	return o, nil
}

// veloraLeast returns the minimum before the fee, as the contract checks it, that leaves the quote less the slippage.
func veloraLeast(q *question) chain.Amount {
	route, _ := q.route.(veloraRoute)
	least := leastOf(route.gross, q.swap)
	if least.Sub(quote.Share(least, route.feePercent)).Cmp(leastOf(q.out, q.swap)) < 0 { // both shares were rounded
		least = least.Add(chain.NewAmount(1))
	}
	return least
}
