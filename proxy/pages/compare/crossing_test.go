package compare

import (
	"math/big"
	"net/url"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/proxy/pages"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

// orderToPolygon is an order of 1 ETH on Ethereum, which a taker swaps to USDC.
func orderToPolygon() *crosschain.Estimate {
	known := chain.Documented()
	give, _ := known.Chain(1)
	take, _ := known.Chain(137)
	coin, usdc := chain.NativeCoin(chain.EVM), chain.NewAddress([]byte("twenty bytes of USDC"))
	weth := chain.NewAddress([]byte("twenty bytes of WETH"))
	ether := token.Token{Symbol: "ETH", Decimals: 18}
	rules := crosschain.Rules{ProtocolBps: 4}
	course, err := rules.Give(chain.NewAmount(1e18), nil, [2]uint8{18, 18}, chain.NewAmount(1e15))
	if err != nil {
		panic(err)
	}
	course = course.Take(&crosschain.Swapped{Out: chain.NewAmount(2_990_000_000), SlippageBps: 30})
	return &crosschain.Estimate{
		Course: course, GiveChain: give, TakeChain: take, InToken: ether, GiveToken: ether,
		TakeToken: token.Token{Symbol: "WETH", Decimals: 18}, OutToken: token.Token{Symbol: "USDC", Decimals: 6},
		Route: crosschain.Route{
			TokenIn: coin, TokenOut: usdc, Give: token.Key{Chain: 1, Address: coin}, Take: token.Key{Chain: 137, Address: weth},
		},
		Amount: course.Recommended, Charges: crosschain.Charges{Fixed: chain.NewAmount(1e15)}, At: noon,
		Prices: map[token.Key]*big.Rat{{Chain: 1, Address: coin}: big.NewRat(3000, 1), {Chain: 137, Address: usdc}: big.NewRat(1, 1)},
	}
}

func crossed(e *crosschain.Estimate) func(*Swap) {
	return func(s *Swap) {
		s.Compared, s.Crossed, s.Path = nil, e, "/v1.0/dln/order/create-tx?srcChainId=1"
	}
}

func TestSwapPageTellsWhatAnOrderBetweenChainsComesTo(t *testing.T) {
	plain := golden.PageText(pageOf(t, nil, crossed(orderToPolygon()), withoutTx))
	golden.Contains(t, "the page", plain,
		"1 ETH on Ethereum buys, on Polygon,", "2,981.03 USDC $2,981.03, quoted 2026-11-21 12:00:00 UTC", "Value difference −0.63 %",
		"Fixed fee 0.001 ETH", "For a transaction, enter a recipient", "Protocol fee Ethereum 0.0004 ETH",
		"Taker's margin Polygon 0.00039984 WETH", "Taker's network fees Polygon 0.001 WETH",
		"Swapped by the taker into Polygon 2,990 USDC", "Slippage Polygon 8.97 USDC",
		"curl 'https://gate.example/v1.0/dln/order/create-tx?srcChainId=1'",
	)
}

func TestSwapPageOffersTheTransactionOfAnOrder(t *testing.T) {
	e := orderToPolygon()
	maker, receiver := chain.NewAddress([]byte("twenty bytes of mine")), chain.NewAddress([]byte("twenty of another's.."[:20]))
	e.Made = &crosschain.Made{
		Tx: quote.Tx{To: maker, Data: []byte{1}}, ID: order.ID{7}, Terms: order.Terms{Maker: maker, Receiver: receiver},
		Short: []crosschain.Short{{Token: chain.NativeCoin(chain.EVM), Missing: chain.NewAmount(5e17)}},
	}
	page := pageOf(t, nil, crossed(e))
	golden.Contains(t, "the page", page,
		order.ID{7}.String(), `data-verb="Create the order"`, `data-sender="`+maker.Format(chain.EVM)+`"`,
		"The sender lacks 0.5 ETH.", "the recipient can cancel on Polygon", "<dt>Recipient</dt>", ">"+receiver.Format(chain.EVM)+"<",
	)
	e.Made.Warnings = creation.OfSender([]byte{0x60})
	if page := pageOf(t, nil, crossed(e)); strings.Contains(page, order.ID{7}.String()) || !strings.Contains(page, "the sender is a contract") {
		t.Errorf("the page of a contract's order names an id that will not be its own: %s", page)
	}
}

// TestGreatLossesAreToldBeforeTheSignature has an output that is worth a third less than the input.
func TestGreatLossesAreToldBeforeTheSignature(t *testing.T) {
	swap, order := comparisonOfSix(), orderToPolygon()
	swap.Out.USD = new(200.0)
	golden.Contains(t, "a swap", pageOf(t, swap), "A loss of 33.33 %.", `data-verb="Swap at a loss of 33.33 %"`)
	order.Prices[token.Key{Chain: 137, Address: order.TokenOut}] = big.NewRat(2, 3)
	order.Made = &crosschain.Made{}
	golden.Contains(t, "an order", pageOf(t, nil, crossed(order)), "A loss of 33.75 %.", `data-verb="Create the order at a loss of 33.75 %"`)
}

// TestFormAsksForAnOrderBetweenChains checks the fields' query, and that the form asks for accounts of another family.
func TestFormAsksForAnOrderBetweenChains(t *testing.T) {
	known := chain.Documented()
	formOf := func(to chain.ID, given url.Values) *swapForm {
		f := &swapForm{pages: &Pages{chains: known}, given: given, pay: side{field: "tokenIn"}, get: side{field: "tokenOut"}}
		f.pay.chain, _ = known.Chain(1)
		f.get.chain, _ = known.Chain(to)
		for of, decimals := range map[*side]uint8{&f.pay: 18, &f.get: 6} {
			of.token = &token.Listing{Key: token.Key{Chain: of.chain.ID, Address: chain.NativeCoin(of.chain.Family)}, Token: token.Token{Decimals: decimals}}
		}
		return f
	}
	given := url.Values{"chainId": {"1"}, "dstChainId": {"137"}, "tokenIn": {"ETH"}, "tokenOut": {"POL"}, "amount": {"1.5"}, "tokenOutRecipient": {"0xab"}}
	query, ok := formOf(137, given).creation()
	if !ok || query.Get("srcChainTokenInAmount") != "1500000000000000000" || query.Get("senderAddress") != "0xab" ||
		query.Get("srcChainOrderAuthorityAddress") != "0xab" || query.Get("dstChainOrderAuthorityAddress") != "0xab" || query.Get("dstChainId") != "137" {
		t.Errorf("the form asks for %v", query)
	}
	given.Set("dstChainId", "7565164")
	f := formOf(7565164, given)
	if _, ok := f.creation(); ok || len(f.faults) != 1 || f.faults[0].Field != "senderAddress" {
		t.Errorf("who signs on Ethereum is not asked for: %v", f.faults)
	}
	var none []pages.Fault
	if given.Set("senderAddress", "0xcd"); formOf(7565164, given).faults != nil {
		t.Errorf("faults, want %v", none)
	}
}
