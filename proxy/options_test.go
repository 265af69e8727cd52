package proxy_test

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	"crossgate/proxy"
)

// TestOptionsAreFew holds the seam between the server and the domain: what it calls are interfaces.
func TestOptionsAreFew(t *testing.T) {
	of := reflect.TypeFor[proxy.Options]()
	if of.NumField() > 12 {
		t.Errorf("Options has %d fields, want 12 at most: one noun for those that belong together", of.NumField())
	}
	for i := range of.NumField() {
		if field := of.Field(i); field.Type.Kind() == reflect.Func {
			t.Errorf("Options.%s is a function: what the server calls is a method of Orders, Swaps or Tokens", field.Name)
		}
	}
}

func TestReplicaThatIsUnreadySaysSo(t *testing.T) {
	s := newWorld(t).server(t, func(o *parts) { ordersOf(o).unready = errors.New("cut off from the database") })
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/healthz": http.StatusOK} {
		if response := get(s, path); response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
}
