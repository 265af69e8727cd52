package config_test

import (
	"strings"
	"testing"

	"crossgate/config"
)

func TestAuthorityOfTheSharedCacheIsForTLS(t *testing.T) {
	for _, test := range []struct {
		cache string
		wrong string // path of the mistake
	}{
		{"{shared: 'rediss://user:SECRET@127.0.0.1/0', sharedCAFile: ca.pem}", ""},
		{"{shared: 'redis://user:SECRET@127.0.0.1/0', sharedCAFile: SECRET}", "cache.sharedCAFile"},
		{"{sharedCAFile: SECRET}", "cache.sharedCAFile"},
		{"{shared: 'https://user:SECRET@127.0.0.1'}", "cache.shared"},
	} {
		_, err := config.Parse([]byte(minimal + "cache: " + test.cache))
		if (err == nil) != (test.wrong == "") {
			t.Errorf("cache: %s: %v, want a mistake at %q", test.cache, err, test.wrong)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), test.wrong+":") || strings.Contains(err.Error(), "SECRET")) {
			t.Errorf("cache: %s: %v, want one mistake, at %s, that quotes nothing", test.cache, err, test.wrong)
		}
	}
}
