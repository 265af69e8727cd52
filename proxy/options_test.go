package proxy_test

import (
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
