package proxy

import (
	"testing"

	"pgregory.net/rapid"
)

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

// TestPathsThatNeedNoSpelling compares the quick look at a path with its spelling.
func TestPathsThatNeedNoSpelling(t *testing.T) {
	patterns := paths{"/api/Orders/:id", "/api/Orders/tx/:hash", "/api/Tx/:hash/ids", "/v1/list"}
	segment := rapid.SampledFrom([]string{"api", "API", "Orders", "orders", "tx", "Tx", "ids", "v1", "list", "", "0x12"})
	rapid.Check(t, func(t *rapid.T) {
		path := ""
		for _, s := range rapid.SliceOfN(segment, 0, 5).Draw(t, "segments") {
			path += "/" + s
		}
		for i, e := range patterns.ends() {
			spelled, fits := spell(path, patterns[i])
			if e.fit(path) && (!fits || spelled != path) {
				t.Errorf("%q is taken for %s, which spells it %q", path, patterns[i], spelled)
			}
		}
	})
}
