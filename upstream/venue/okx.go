package venue

// OKX DEX API v6: https://web3.okx.com/onchainos/dev-docs/trade/dex-swap

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// okx returns price and transaction in one answer. The sender approves another contract than the one called.
var okx = register(service{
	// One request per second unless agreed otherwise.
	Service: Service{
		Name: "okx", URL: "https://web3.okx.com", Keyed: true,
		Source: "web3.okx.com/onchainos/dev-docs/trade/dex-smart-contract; when which was replaced: github " +
			"DefiLlama/dimension-adapters, fees of OKX",
		// The only sources to use, as comma-separated IDs; further announced routers, as comma-separated chain=address.
		Accepts: []string{"sources", okxRouters},
	},
	profile: quote.Profile{ImageURL: "https://www.okx.com/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(3), FineAffiliate: true},
	asks: requestTemplate{
		path: "api/v6/dex/aggregator/swap", // shares are percents of the input
		query: "chainIndex=$chain swapMode=exactIn amount=$amount fromTokenAddress=$lowerIn toTokenAddress=$lowerOut " +
			"slippagePercent=$percent userWalletAddress=$sender swapReceiverAddress=$recipient dexIds=$sources " +
			"feePercent=$share fromTokenReferrerWalletAddress=$payee",
		sign: okxSign,
	},
	prepare: prepareOKX,
	// The minimum shows whether the slippage was understood in the right unit.
	answers: answerTemplate{
		in: "data.routerResult.fromTokenAmount", out: "data.routerResult.toTokenAmount", least: "data.tx.minReceiveAmount",
		gas: "data.tx.gas", to: "data.tx.to", value: "data.tx.value", data: "data.tx.data",
	},
	refuses: refusals{ // usually with HTTP status 200: no liquidity, no token, too much impact
		state: "code", fine: "0", words: "code msg", unrouted: regexp.MustCompile(`^(82000|82104|82112)\b`), limited: regexp.MustCompile(`^50011\b`),
	},
	// Routers are replaced every four months, after an announcement: the current one is first, then the previous one,
	// on Ethereum also a recorded one. Allowances outlive them.
	contracts: []deployment{
		{[]uint64{1}, []string{
			"0x8feAB81D36E7576107D5dE0758c1b839Be31B4F6", "0x28b1Dc1a5E3699A428BC51d234DFab7C9CB2a183",
			"0x7D0CcAa3Fac1e5A943c5168b6CEd828691b46B36",
		}, "0x40aA958dd87FC8305b97f2BA922CDdCa374bcD7f"},
		okxContracts(10, "0x1f5B43127414E36c31eCb5Ff5567262997CD24D0", "0xDd5E9B947c99Aa60bab00ca4631Dce63b49983E7", "0x68D6B739D2020067D1e2F713b999dA97E4d54812"),
		okxContracts(56, "0x5994814f2C4040b863A0125A45DE152a8c2A4DEc", "0x62cceF0b4545166f721cAa9fEe13c1d3767E27dc", "0x2c34A2Fb1d0b4f55de51E1d0bDEfaDDce6b7cDD6"),
		okxContracts(137, "0x3C4829196BFadFF4394726b45159aeaAC6FCd41c", "0xF6E1B4b201e220FC3741bd7a75675ffEA25c02AD", "0x3B86917369B83a6892f553609F3c2F439C184e31"),
		okxContracts(143, "0xc1C76E784Db8D68585fb608ce68FC5DcFF14000E", "0x7A7AD9aa93cd0A2D0255326E5Fb145CEc14997FF", "0xf534A8a1CAD0543Cd6438f7534CA3486c01998d4"),
		okxContracts(146, "0xd72f9Af181A0eB1B8550a00124ECdb71Bb758C89", "0x79f7C6C6dc16Ed3154E85A8ef9c1Ef31CEFaEB19", "0xD321ab5589d3E8FA5Df985ccFEf625022E2DD910"),
		okxContracts(999, "0xb193874f0C77948d2bCFeC2EfAF8Bc65B4C2ca89", "0x9Ac7b1FFEE0f58c0a3c89AA54Afb62efD25DC9fd", "0x56e6983D59bF472Ced0E63966A14d94A3A291589"),
		{[]uint64{4663}, []string{"0x6e2A35A7AD683cF634D91492d73bb7FF774c6919"}, "0x42170295F1173c9e5874ea9d00c6d137E1a4f53d"},
		okxContracts(5000, "0x472fc4f7fd3C9F06f0b8637c5505815ac80938Ad", "0xcF76984119C7f6ae56fAfE680d39C08278b7eCF4", "0x57df6092665eb6058DE53939612413ff4B09114E"),
		okxContracts(8453, "0x67d03631FE51B741C0C00c4E16eb662AC84381df", "0xC8F6b8Ba0DC0f175B568B99440B0867F69A29265", "0x57df6092665eb6058DE53939612413ff4B09114E"),
		okxContracts(42161, "0x09f94b5Fc68e227C323A6FbaE3Bd98C97fD8c849", "0x7CF6b330b437E9fb432B1400DE17B03357Cf049A", "0x70cBb871E8f30Fc8Ce23609E9E0Ea87B6b222F58"),
		okxContracts(43114, "0xAB96dcFA7A7D669d9BF5918faB8641479973dD0A", "0xa94Fcf9fc56a864f8DE51e6315aee5863AD63C91", "0x40aA958dd87FC8305b97f2BA922CDdCa374bcD7f"),
		okxContracts(59144, "0xdfcb0cEcC10e78F3F3749F3f3d3EE4047b2c9829", "0x2E1Dee213BA8d7af0934C49a23187BabEACa8764", "0x57df6092665eb6058DE53939612413ff4B09114E"),
	},
	functions: readsCalls(
		function{signature: "smartSwapTo(uint256,address payeeOrCaller," + okxBase + ",uint256[]," + okxPaths + "[][]," + okxOrders + ")", behind: okxShares},
		function{signature: "smartSwapByOrderId(uint256," + okxBase + ",uint256[]," + okxPaths + "[][]," + okxOrders + ")", behind: okxShares},
		function{signature: "dagSwapTo(uint256,address payeeOrCaller," + okxBase + "," + okxPaths + "[])", behind: okxShares},
		function{signature: "dagSwapByOrderId(uint256," + okxBase + "," + okxPaths + "[])", behind: okxShares},
	),
})

// okxContracts returns a chain's current router, the previous one, and the contract that senders approve.
func okxContracts(chain uint64, router, before, approves string) deployment {
	return deployment{[]uint64{chain}, []string{router, before}, approves}
}

// DexRouter: BaseRequest, RouterPath and PMMSwapRequest[].
const (
	okxBase   = "(uint256 in,address out,uint256 amount,uint256 least,uint256)"
	okxPaths  = "(address[],address[],uint256[],bytes[],uint256)"
	okxOrders = "(uint256,address,address,address,uint256,uint256,uint256,uint256,bool,bytes)[]"
)

// Flags of the words from which OKX's router reads shares (okxlabs/DEX-Router-EVM-V1, CommissionLib): one or two of the
// input, or of the output, which are taken after the minimum was checked.
var (
	okxOneShare    = [6]byte{0x3c, 0xa2, 0x0a, 0xfc, 0x2a, 0xaa}
	okxTwoShares   = [6]byte{0x22, 0x22, 0x0a, 0xfc, 0x2a, 0xaa}
	okxInputShare  = okxOneShare[2:]
	okxOutputShare = []byte{0x0a, 0xfc, 0x2b, 0xbb}
	// okxTrim begins a word before those of shares (TrimLib): the router gives others up to a tenth of the output.
	okxTrim = []byte{0x77, 0x77, 0x77, 0x77}
)

const (
	okxRateUnit = 1_000_000_000
	okxMostRate = 30_000_000
)

// okxShares is a function.behind: it decodes rate and receiver of a second share, the token, and the first share. The
// router always reads the last word, and takes shares in addition to the amount that it swaps.
func okxShares(d *decoded, rest []byte, c *quote.Call) error {
	const word = common.HashLength
	first := d.tx.Data[len(d.tx.Data)-word:]
	switch flag := [6]byte(first); {
	case bytes.HasPrefix(d.tx.Data[len(d.tx.Data)-len(rest)-word:], okxTrim):
		return fmt.Errorf("%w: it pays part of the output to others", quote.ErrRefused)
	case len(rest) == 0 && !bytes.Equal(flag[2:], okxInputShare) && !bytes.Equal(flag[2:], okxOutputShare):
		return nil
	case len(rest) == 2*word && flag == okxOneShare:
		c.Affiliate = okxShare(first)
	case len(rest) == 3*word && flag == okxTwoShares && flag == [6]byte(rest):
		c.Affiliate, c.Second = okxShare(first), okxShare(rest[:word])
	case bytes.Equal(flag[2:], okxInputShare), bytes.Equal(flag[2:], okxOutputShare):
		return fmt.Errorf("%w: it pays shares that are not taken from the input", quote.ErrRefused)
	default:
		return errors.New("unknown data after its arguments")
	}
	if asCoin(chain.NewAddress(rest[len(rest)-word-common.AddressLength:len(rest)-word])) != c.TokenIn {
		return errors.New("it pays a share of another token than the input")
	}
	rates, swapped := uint64(0), c.AmountIn
	for _, share := range []quote.Affiliate{c.Affiliate, c.Second} {
		rates += uint64(share.Percent.Shift(7).IntPart())
	}
	if rates > okxMostRate {
		return errors.New("it pays larger shares of the input than the router allows")
	}
	for _, share := range []quote.Affiliate{c.Affiliate, c.Second} {
		c.AmountIn = c.AmountIn.Add(swapped.MulDiv(uint64(share.Percent.Shift(7).IntPart()), okxRateUnit-rates))
	}
	return nil
}

// okxShare decodes a flag of 6 bytes, a rate of 6 and an address.
func okxShare(word []byte) quote.Affiliate {
	rate := new(big.Int).SetBytes(word[6:12])
	return quote.Affiliate{Percent: decimal.NewFromBigInt(rate, -7), Recipient: chain.NewAddress(word[12:])}
}

const okxRouters = "routers"

// prepareOKX wants a key of three parts, with which requests are signed, and adds the routers of the setting.
func prepareOKX(v *aggregator) (quote.Venue, error) {
	if _, _, passphrase := okxKey(v.Key); passphrase == "" {
		return nil, errors.New("key must be API key, secret and passphrase, separated by colons")
	}
	if v.Settings[okxRouters] == "" {
		return v, nil
	}
	for each := range strings.SplitSeq(v.Settings[okxRouters], ",") {
		chainText, address, _ := strings.Cut(each, "=")
		id, idErr := chain.ParseID(chainText)
		router, err := chain.ParseAddress(address, chain.EVM)
		if err := errors.Join(idErr, err); err != nil {
			return nil, fmt.Errorf("setting routers: %w", err)
		}
		v.profile.MoreRouters[id] = append(v.profile.MoreRouters[id], router)
	}
	return v, nil
}

// okxKey splits a key into its parts; the last one may have colons. All are empty if one is.
func okxKey(key string) (id, secret, passphrase string) {
	parts := strings.SplitN(key, ":", 3)
	if len(parts) != 3 || slices.Contains(parts, "") {
		return "", "", ""
	}
	return parts[0], parts[1], parts[2]
}

// okxSign makes the headers of a GET request for a path and query, exactly as they are sent.
func okxSign(o Options, target string) http.Header {
	id, secret, passphrase := okxKey(o.Key)
	stamp := o.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + http.MethodGet + target))
	return http.Header{
		"Ok-Access-Key":        {id},
		"Ok-Access-Passphrase": {passphrase},
		"Ok-Access-Timestamp":  {stamp},
		"Ok-Access-Sign":       {base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}
}
