package proxy

import "testing"

func TestSpell(t *testing.T) {
	const pattern = "/api/Orders/creationTxHash/:hash"
	for path, want := range map[string]string{
		"/api/Orders/creationTxHash/0xAb":   "/api/Orders/creationTxHash/0xAb",
		"/API/orders/CREATIONTXHASH/0xAb/":  "/api/Orders/creationTxHash/0xAb",
		"/api/Orders/creationTxHash/":       "",
		"/api/Orders/creationTxHash":        "",
		"/api/Orders/creationTxHash/a/b":    "",
		"/api/Orders/creationTxHash/a//":    "",
		"/api//Orders/creationTxHash/a":     "",
		"api/Orders/creationTxHash/a":       "",
		"/api/Orders/creationTxHash/:hash":  "/api/Orders/creationTxHash/:hash",
		"/api/Order\u017f/creationTxHash/a": "/api/Orders/creationTxHash/a", // folds to s in Unicode; harmless
		"/":                                 "",
		"":                                  "",
	} {
		if got, fits := spell(path, pattern); got != want || fits != (want != "") {
			t.Errorf("spell(%q) = %q, %v, want %q", path, got, fits, want)
		}
	}
}
