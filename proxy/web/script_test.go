package web

import (
	"os/exec"
	"path/filepath"
	"testing"

	"crossgate/internal/must"
)

// node runs a program, which complains about what is wrong.
func node(t *testing.T, arguments ...string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not there; Debian and Ubuntu: apt-get install nodejs")
	}
	said, err := exec.CommandContext(t.Context(), node, append([]string{"--no-warnings"}, arguments...)...).CombinedOutput()
	if err != nil || len(said) > 0 {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestScriptsParse compiles every script of the pages without running it: only a browser would notice a typo otherwise.
func TestScriptsParse(t *testing.T) {
	const parse = `for (const file of process.argv.slice(1))
		new (require("vm").SourceTextModule)(require("fs").readFileSync(file, "utf8"), { identifier: file })`
	scripts := must.Get(filepath.Glob("assets/*.js"))(t)
	if len(scripts) == 0 {
		t.Error("there are no scripts")
	}
	node(t, append([]string{"--experimental-vm-modules", "-e", parse}, scripts...)...)
}

// TestOutcomesAreSaidWhenTheyAreKnown requires that no transaction is said to be lost that may have been included: the
// person would send another one.
func TestOutcomesAreSaidWhenTheyAreKnown(t *testing.T) { node(t, "testdata/outcomes.mjs") }

// TestPickedTokensAreNamedForThemselves requires that a name stands for the token that was picked, and for no namesake.
func TestPickedTokensAreNamedForThemselves(t *testing.T) {
	node(t, "--input-type=module", "-e", `
		import { nameOf } from "./assets/picker.js"
		const [usdc, bridged, usdt] = [["USDC", "0x1"], ["usdc", "0x2"], ["USDT", "0x3"]].map(([symbol, address]) => ({ symbol, address }))
		const found = { "USDT": [usdt], "usdc": [usdc, bridged, { ...usdt, symbol: "USDC.e" }] }
		globalThis.fetch = async (url) => new Response(JSON.stringify({ tokens: found[new URLSearchParams(url.split("?")[1]).get("query")] }))
		for (const [token, want] of [[usdt, "USDT"], [bridged, "0x2"]]) {
			const got = await nameOf(token, [token])
			if (got !== want) console.log(token.address + " is named " + got + ", want " + want)
		}`)
}
