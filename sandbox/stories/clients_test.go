package stories_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// clients is where the libraries are that call a gateway.
var clients = filepath.Join("..", "..", "clients")

// TestTypeScriptClient runs the client's own tests against a gateway, and one whose quota is soon used up. They compile,
// with what must not compile, after a look at whether the generated types are up to date.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	want(t, "node", "npm")
	directory := filepath.Join(clients, "typescript")
	if _, err := os.Stat(filepath.Join(directory, "node_modules", "openapi-typescript")); err != nil {
		t.Skip("openapi-typescript is not there: npm ci in clients/typescript, which make test does")
	}
	world := sandboxtest.Start(t, sandbox.Options{})
	front := inFrontOf(t, world)
	limited := inFrontOf(t, world, "limits: {address: {units: 10, window: 5s}}")
	test := exec.CommandContext(t.Context(), "npm", "test", "--silent")
	test.Dir = directory
	test.Env = append(os.Environ(), "GATEWAY="+front.url, "LIMITED="+limited.url, "SANDBOX="+world.URL())
	t.Logf("%s", runExample(t, test))
}
