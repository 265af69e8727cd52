package processes_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/sandbox/sandboxtest"
)

// TestDiffTellsWhatTheOriginHasOtherwise compares orders with another gateway, in the place of the hosted service, as
// it answers and with one member changed on the way.
func TestDiffTellsWhatTheOriginHasOtherwise(t *testing.T) {
	t.Parallel()
	world, dir := sandboxtest.Shared(t), t.TempDir()
	database := filepath.Join(dir, "orders.db")
	if err := os.WriteFile(database+".yaml", world.Config(database), 0o600); err != nil {
		t.Fatal(err)
	}
	indexCommand(t, 0, "backfill", "--config", database+".yaml")
	origin := serveApart(t, string(world.Config(database))).url
	changing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, err := http.Get(origin + r.URL.RequestURI()) //nolint:noctx // it ends with the test
		if err != nil {
			t.Error(err)
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprint(w, strings.Replace(string(body), `"makerOrderNonce":`, `"promotion":1,"makerOrderNonce":7`, 1))
	}))
	t.Cleanup(changing.Close)
	with := func(name, url string) string {
		file := filepath.Join(dir, name+".yaml")
		text := fmt.Sprintf("%spassthrough: {hosts: [{name: orders, endpoints: [{url: %q}]}]}\n", world.Config(database), url)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	_, ids := busiestTaker(t, database)
	same := indexCommand(t, 0, "diff", "--config", with("same", origin), ids[0])
	if want := "/api/Orders/" + ids[0] + ": status 200 (OK) here and there, nothing differs"; !strings.Contains(same, want) {
		t.Errorf("diff said\n%s\nwant %q in it", same, want)
	}
	changed := indexCommand(t, 1, "diff", "--config", with("changed", changing.URL), ids[0])
	for _, want := range []string{"2 members differ", "expected   promotion", "different  makerOrderNonce"} {
		if !strings.Contains(changed, want) {
			t.Errorf("diff said\n%s\nwant %q in it", changed, want)
		}
	}
}
