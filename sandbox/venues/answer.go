package venues

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"
)

// object is a JSON object of an answer.
type object = map[string]any

// answer writes body as JSON.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	// An error means that the client has gone.
	_ = json.NewEncoder(w).Encode(body)
}

// maxBody bounds a request's body, in bytes.
const maxBody = 1 << 20

// decode decodes the JSON of the request's body.
func (r *request) decode(into any) error { return json.NewDecoder(r.Body).Decode(into) }

// maxAmount is the largest input that the venues price, 2^112 - 1: what a pool can hold.
var maxAmount = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 112), big.NewInt(1))

// parseAmount parses a positive whole number in decimal digits.
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

// decimal formats a number with as few digits as it needs.
func decimal(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// requestID returns an ID that is the same for equal requests.
func (r *request) requestID() string {
	sum := sha256.Sum256([]byte(r.Method + r.URL.RequestURI()))
	return hex.EncodeToString(sum[:16])
}

// without returns the canonical JSON of an object without one member, which holds a signature of the rest. Venues sign
// what they hand out to detect routes that come back changed.
func without(member string, signed any) []byte {
	text, _ := json.Marshal(signed) // always valid JSON
	members, decoder := object{}, json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	_ = decoder.Decode(&members) // anything but an object has no signature either
	delete(members, member)
	text, _ = json.Marshal(members)
	return text
}
