package config_test

import (
	"strings"
	"testing"

	"crossgate/config"
)

func TestOrdersAreKeptInOnePlace(t *testing.T) {
	for _, test := range []struct {
		index string
		wrong string // path of the mistake
	}{
		{"{}", ""},
		{"{postgres: 'postgres://crossgate:SECRET@127.0.0.1/orders'}", ""},
		{"{path: here.db, postgres: 'postgres://crossgate:SECRET@127.0.0.1/orders'}", "index.path"},
		{"{postgres: 'mysql://crossgate:SECRET@127.0.0.1/orders'}", "index.postgres"},
		{"{behind: 0s}", "index.behind"},
	} {
		_, err := config.Parse([]byte(minimal + "index: " + test.index))
		if (err == nil) != (test.wrong == "") {
			t.Errorf("index: %s: %v, want a mistake at %q", test.index, err, test.wrong)
		}
		if err != nil && (!strings.Contains(err.Error(), test.wrong+":") || strings.Contains(err.Error(), "SECRET")) {
			t.Errorf("index: %s: %v, want a mistake at %s that quotes nothing", test.index, err, test.wrong)
		}
	}
}
