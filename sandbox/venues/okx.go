package venues

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math/big"
	"net/http"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// The three parts of the API key.
const (
	okxKey        = "sandbox"
	okxSecret     = "secret"
	okxPassphrase = "passphrase"
)

const (
	okxPath    = "/api/v6/dex/aggregator/swap"
	okxFeeBps  = 6   // what it keeps of the outcome
	okxMostFee = 300 // bps

	// okxClock is how far the time of a signature may be from ours.
	okxClock = 30 * time.Second
)

// okxContracts are the router of a chain, and what users approve for it.
var okxContracts = map[uint64][2]string{
	1:    {"0x28b1Dc1a5E3699A428BC51d234DFab7C9CB2a183", "0x40aA958dd87FC8305b97f2BA922CDdCa374bcD7f"},
	137:  {"0xF6E1B4b201e220FC3741bd7a75675ffEA25c02AD", "0x3B86917369B83a6892f553609F3c2F439C184e31"},
	146:  {"0x79f7C6C6dc16Ed3154E85A8ef9c1Ef31CEFaEB19", "0xD321ab5589d3E8FA5Df985ccFEf625022E2DD910"},
	8453: {"0xC8F6b8Ba0DC0f175B568B99440B0867F69A29265", "0x57df6092665eb6058DE53939612413ff4B09114E"},
}

func okxRouters(chain uint64) []string {
	if at, served := okxContracts[chain]; served {
		return at[:1]
	}
	return nil
}

func okxApproval(chain uint64) string { return okxContracts[chain][1] }

// okx is the OKX DEX API v6 for exact input.
type okx struct{ floor *floor }

func newOKX(f *floor) http.Handler {
	o := &okx{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+okxPath, o.swap)
	return mux
}

// okxAnswer is the envelope of every answer; code "0" is success.
type okxAnswer struct {
	Code string     `json:"code"`
	Data []okxOffer `json:"data"`
	Msg  string     `json:"msg"`
}

type okxOffer struct {
	RouterResult okxResult `json:"routerResult"`
	Tx           okxTx     `json:"tx"`
}

type okxResult struct {
	ChainIndex      string   `json:"chainIndex"`
	FromTokenAmount string   `json:"fromTokenAmount"`
	ToTokenAmount   string   `json:"toTokenAmount"`
	EstimateGasFee  string   `json:"estimateGasFee"`
	TradeFee        string   `json:"tradeFee"`
	FromToken       okxToken `json:"fromToken"`
	ToToken         okxToken `json:"toToken"`
}

type okxToken struct {
	Decimal              string `json:"decimal"`
	IsHoneyPot           bool   `json:"isHoneyPot"`
	TaxRate              string `json:"taxRate"`
	TokenContractAddress string `json:"tokenContractAddress"`
	TokenSymbol          string `json:"tokenSymbol"`
	TokenUnitPrice       string `json:"tokenUnitPrice"`
}

type okxTx struct {
	Data             string `json:"data"`
	From             string `json:"from"`
	Gas              string `json:"gas"`
	GasPrice         string `json:"gasPrice"`
	MinReceiveAmount string `json:"minReceiveAmount"`
	SlippagePercent  string `json:"slippagePercent"`
	To               string `json:"to"`
	Value            string `json:"value"`
}

// okxRefusal is a request that the API declines: its HTTP status, its code, and its words.
type okxRefusal struct {
	status    int
	code, msg string
}

func (r okxRefusal) Error() string { return r.msg }

func (o *okx) swap(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	q, found, err := o.priced(r)
	if err != nil {
		okxFail(w, err)
		return
	}
	slippage, err := strconv.ParseFloat(query.Get("slippagePercent"), 64)
	if err != nil || slippage < 0 || slippage > 100 {
		okxFail(w, okxRefusal{http.StatusOK, "51000", "Parameter slippagePercent error"})
		return
	}
	receiver := query.Get("swapReceiverAddress")
	if receiver == "" {
		receiver = query.Get("userWalletAddress")
	}
	amountOut := less(found.amountOut, okxFeeBps)
	minimum := new(big.Int).Sub(amountOut, slippageOf(amountOut, 100*slippage))
	c := o.floor.call(q, found, minimum, receiver, okxFeeBps)
	data, err := c.encode()
	if err != nil {
		okxFail(w, err)
		return
	}
	gas := strconv.FormatInt(found.gas(), 10)
	answer(w, http.StatusOK, okxAnswer{Code: "0", Data: []okxOffer{{
		RouterResult: okxResult{
			ChainIndex: query.Get("chainIndex"), FromTokenAmount: q.amount.String(), ToTokenAmount: amountOut.String(),
			EstimateGasFee: gas, TradeFee: usd(q.listing.tokens[coin].worth(big.NewInt(found.gas() * gasPrice))),
			FromToken: newOKXToken(q, q.in), ToToken: newOKXToken(q, q.out),
		},
		Tx: okxTx{
			Data: data, From: query.Get("userWalletAddress"), Gas: gas, GasPrice: strconv.Itoa(gasPrice),
			MinReceiveAmount: minimum.String(), SlippagePercent: query.Get("slippagePercent"),
			To: okxContracts[q.listing.chain][0], Value: c.value(),
		},
	}}})
}

func newOKXToken(q question, address common.Address) okxToken {
	t := q.listing.tokens[address]
	return okxToken{
		Decimal: strconv.Itoa(t.Decimals), TaxRate: "0", TokenContractAddress: spell(address), TokenSymbol: t.Symbol,
		TokenUnitPrice: strconv.FormatFloat(t.USD, 'f', -1, 64),
	}
}

func (o *okx) priced(r *http.Request) (q question, found trade, err error) {
	if err := o.authorize(r); err != nil {
		return q, found, err
	}
	query := r.URL.Query()
	chain, _ := strconv.ParseUint(query.Get("chainIndex"), 10, 64)
	if q, err = o.floor.question(chain, query.Get("fromTokenAddress"), query.Get("toTokenAddress"), query.Get("amount")); err != nil {
		return q, found, err
	}
	if query.Get("swapMode") != "exactIn" || !isAddress(query.Get("userWalletAddress")) {
		return q, found, okxRefusal{http.StatusOK, "51000", "Parameter swapMode or userWalletAddress error"}
	}
	if q, err = q.withFee(query.Get("feePercent"), 0.01, query.Get("fromTokenReferrerWalletAddress"), okxMostFee); err != nil {
		return q, found, err
	}
	found, err = o.floor.answer(r.Context(), q)
	return q, found, err
}

// authorize checks the signature over time, method, path and query.
func (o *okx) authorize(r *http.Request) error {
	stamp := r.Header.Get("OK-ACCESS-TIMESTAMP")
	signed, err := time.Parse(time.RFC3339, stamp)
	if err != nil || signed.Sub(o.floor.now()).Abs() > okxClock {
		return okxRefusal{http.StatusUnauthorized, "50102", "Timestamp request expired"}
	}
	mac := hmac.New(sha256.New, []byte(okxSecret))
	mac.Write([]byte(stamp + r.Method + okxPath + "?" + r.URL.RawQuery))
	signature, _ := base64.StdEncoding.DecodeString(r.Header.Get("OK-ACCESS-SIGN"))
	switch {
	case r.Header.Get("OK-ACCESS-KEY") != okxKey:
		return okxRefusal{http.StatusUnauthorized, "50111", "Invalid OK-ACCESS-KEY"}
	case r.Header.Get("OK-ACCESS-PASSPHRASE") != okxPassphrase:
		return okxRefusal{http.StatusUnauthorized, "50105", "Request header OK-ACCESS-PASSPHRASE incorrect"}
	case !hmac.Equal(signature, mac.Sum(nil)):
		return okxRefusal{http.StatusUnauthorized, "50113", "Invalid signature"}
	}
	return nil
}

func okxFail(w http.ResponseWriter, err error) {
	var refusal okxRefusal
	switch {
	case errors.Is(err, errNoPath):
		refusal = okxRefusal{http.StatusOK, "82000", "Insufficient liquidity."}
	case errors.Is(err, errUnlisted):
		refusal = okxRefusal{http.StatusOK, "82104", "This token is not supported"}
	case errors.Is(err, errNoChain):
		refusal = okxRefusal{http.StatusOK, "82105", "This chain is not supported"}
	case errors.Is(err, errAmount), errors.Is(err, errFee):
		refusal = okxRefusal{http.StatusOK, "51000", err.Error()}
	case !errors.As(err, &refusal):
		refusal = okxRefusal{http.StatusInternalServerError, "50000", "System error"}
	}
	answer(w, refusal.status, okxAnswer{Code: refusal.code, Data: []okxOffer{}, Msg: refusal.msg})
}
