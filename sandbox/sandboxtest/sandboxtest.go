// Package sandboxtest starts worlds for tests. The first one in a process takes more than a second of processor time,
// each further one half a second, so tests that only read one share it.
package sandboxtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"crossgate/sandbox"
)

// Start runs a world until the test ends. It reuses the history of the first one unless BlockTime is set.
func Start(t testing.TB, o sandbox.Options) *sandbox.World {
	t.Helper()
	o.Recorded = o.BlockTime == 0
	world, err := sandbox.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	return world
}

// Shared returns the one world of the test binary, which lives as long as the process. Tests that use it must send no
// transaction, mine no block and set no fault.
func Shared(t testing.TB) *sandbox.World {
	t.Helper()
	world, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return world
}

var shared = sync.OnceValues(func() (*sandbox.World, error) {
	return sandbox.Start(context.Background(), sandbox.Options{Recorded: true})
})

// Control makes a control call, a GET if body is empty, and decodes the answer into out.
func Control(t testing.TB, world *sandbox.World, call, body string, out any) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(t.Context(), method, world.URL()+"/sandbox/"+call, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	if err = errors.Join(err, json.Unmarshal(text, out)); err != nil {
		t.Fatalf("%s %s: %v: %s", call, body, err, text)
	}
}

// Order identifies an order of a world.
type Order struct{ OrderID, CreationTxHash string }

// Deliver creates an order from Ethereum to Polygon and fulfils it by the first taker.
func Deliver(t testing.TB, world *sandbox.World) (o Order) {
	t.Helper()
	Control(t, world, "create",
		`{"chainId":1,"takeChainId":137,"giveToken":"USDC","giveAmount":"100","takeToken":"DAI","takeAmount":"99.5"}`, &o)
	Control(t, world, "fulfil", fmt.Sprintf(`{"orderId":%q}`, o.OrderID), new(any))
	return o
}
