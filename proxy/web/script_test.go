package web

import (
	"os/exec"
	"path/filepath"
	"testing"

	"crossgate/internal/must"
)

// TestScriptsParse compiles every script of the pages without running it: only a browser would notice a typo otherwise.
func TestScriptsParse(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not there; Debian and Ubuntu: apt-get install nodejs")
	}
	const parse = `for (const file of process.argv.slice(1))
		new (require("vm").SourceTextModule)(require("fs").readFileSync(file, "utf8"), { identifier: file })`
	scripts := must.Get(filepath.Glob("assets/*.js"))(t)
	said, err := exec.CommandContext(t.Context(), node, append([]string{"--no-warnings", "--experimental-vm-modules", "-e", parse}, scripts...)...).CombinedOutput()
	if err != nil || len(scripts) == 0 {
		t.Errorf("%d scripts: %v\n%s", len(scripts), err, said)
	}
}
