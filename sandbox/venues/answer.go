package venues

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"
)

// answer writes body as JSON.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	// The client may have left; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(body)
}

// maxBody bounds a request's body, in bytes.
const maxBody = 1 << 20

func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	return json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into)
}

// maxAmount is the largest input that the venues price, 2^112 - 1: what a pool can hold.
var maxAmount = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 112), big.NewInt(1))

// parseAmount reads a positive whole number in decimal digits.
func parseAmount(text string) (amount *big.Int, valid bool) {
	const maxDigits = 78
	if len(text) > maxDigits {
		return nil, false
	}
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return nil, false
		}
	}
	amount, valid = new(big.Int).SetString(text, 10)
	return amount, valid && amount.Sign() > 0
}

func isAmount(text string) bool {
	_, valid := parseAmount(text)
	return valid
}

// usd writes a USD value as the venues do, as a decimal text.
func usd(value float64) string { return strconv.FormatFloat(value, 'f', 10, 64) }

// requestID is a name for the request that is the same whenever the same is asked.
func requestID(r *http.Request) string {
	sum := sha256.Sum256([]byte(r.Method + r.URL.RequestURI()))
	return hex.EncodeToString(sum[:16])
}

// slippageOf is floor(amount × bps / 10,000) for basis points that may have a fraction.
func slippageOf(amount *big.Int, bps float64) *big.Int {
	share, _ := new(big.Rat).SetString(strconv.FormatFloat(bps, 'f', -1, 64))
	share.Mul(share, new(big.Rat).SetInt(amount))
	share.Quo(share, big.NewRat(allBps, 1))
	return new(big.Int).Quo(share.Num(), share.Denom())
}

// percentOf is part in percent of whole.
func percentOf(part, whole *big.Int) float64 {
	percent, _ := new(big.Rat).Mul(new(big.Rat).SetFrac(part, whole), big.NewRat(100, 1)).Float64()
	return percent
}
