package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"crossgate/internal/golden"
	"crossgate/store"
)

func TestCommandLines(t *testing.T) {
	directory := t.TempDir()
	file := func(name, text string) (path string) {
		path = filepath.Join(directory, name)
		write(t, path, text)
		return path
	}
	wrong := file("wrong.yaml", "index: {postgres: \"postgres://orders:SECRET%zz@db.example/orders\"}\nlisten: nowhere\nchains: [{id: 1, endpoints: []}]\nvenues: [{name: nobody, endpoints: [{url: \"https://key@example.org/SECRET\"}]}]\nsurprise: 1\n")
	kept := file("kept.yaml", `chains: [{id: 1, endpoints: [{url: "https://n.example"}]}]
passthrough: {hosts: [
  {name: a, hosts: [a.example, b.example], keepHost: true, endpoints: [{url: "https://o.example"}]},
  {name: c, keepHost: true, endpoints: [{url: "https://p.example"}]}]}
`)
	noCertificate := file("tls.yaml", `chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:9"}]}]
venues: [{name: nobody, endpoints: [{url: "http://127.0.0.1:9"}]}]
telemetry: {tls: {certFile: SECRET.pem, keyFile: SECRET.key}}
`)
	hooks := file("hooks.yaml", "chains: [{id: 1, endpoints: [{url: 'http://127.0.0.1:9'}]}]\nevents:\n  redis: http://SECRET.example\n"+
		"  webhooks: [{name: a, url: 'https://SECRET.example', secrets: [SECRET], filter: delivery=never}]\n")
	misspelt := file("misspelt.yaml", "listn: 127.0.0.1:0\nvenues: [{name: verola, endpoints: [{url: 'http://127.0.0.1:9'}]}]\n")
	offline := file("offline.yaml", "index: {path: '"+directory+"/orders.db'}\nchains: [{id: 1, endpoints: [{name: away, url: \"http://127.0.0.1:9/SECRETKEY\"}]}]\n")
	for _, test := range []struct {
		line string
		code int
		says []string
	}{
		{"", 2, []string{"crossgate serve"}},
		{"help", 0, []string{"crossgate serve"}},
		{"help index fly", 2, []string{`unknown command "fly"`}},
		{"help serv", 2, []string{"did you mean serve?"}},
		{"help index audit", 0, []string{"crossgate index audit [flags]"}},
		{"index audit --help", 0, []string{"crossgate index audit [flags]"}},
		{"completion bsh", 2, []string{`unknown command "bsh"`}},
		{"completion bash extra", 2, []string{`unexpected "extra"`}},
		{"index backup --file b.db --keep -1", 2, []string{"--keep -1"}},
		{"fly", 2, []string{`unknown command "fly"`}},
		{"serv", 2, []string{"did you mean serve?"}},
		{"index audti", 2, []string{"did you mean audit?"}},
		{"audit", 2, []string{"did you mean index?"}},
		{"completion bash", 0, []string{"__start_crossgate"}},
		{"__complete index re", 0, []string{"repair", "restore"}},
		{"index", 2, []string{"status ", "audit ", "repair ", "want a command"}},
		{"index audit --order 0x12", 2, []string{"-order"}},
		{"index audit --since yesterday", 2, []string{`"yesterday" is not a time`}},
		{"index audit --chain 137 --config " + offline, 1, []string{"chain 137 is not configured: want one of 1"}},
		{"index repair --from 5 --since 2026-01-31", 2, []string{"--from and --to cannot be combined with a selection"}},
		{"index repair --from 5 --to 3", 2, []string{"--from 5 is after --to 3"}},
		{"index audit --since 2026-02-01 --until 2026-01-31", 2, []string{"--since is after --until"}},
		{"export --cursor abc", 2, []string{"--cursor abc: want the one that an export --of events ended with"}},
		{"export --of orders --cursor 5", 2, []string{"--cursor 5: want the one that an export --of orders ended with"}},
		{"export --url 127.0.0.1:8080", 2, []string{"--url 127.0.0.1:8080: want http:// or https:// in front"}},
		{"serve --nonsense", 2, []string{"unknown flag: --nonsense\n"}},
		{"serve --confg gateway.yaml", 2, []string{"unknown flag: --confg; did you mean --config?"}},
		{"check --config " + misspelt, 1, []string{"listn: line 1: unknown key; did you mean listen?", `"verola" is not a venue; did you mean velora?`}},
		{"schema", 0, []string{`"$schema"`, `"requestsPerSecond"`}},
		{"version", 0, []string{"crossgate devel (commit ", runtime.Version()}},
		{"--version", 0, []string{"crossgate devel (commit "}},
		{"index status --config " + wrong + ".none", 1, []string{"wrong.yaml.none"}},
		{"serve --log-format yaml", 2, []string{"--log-format is text or json"}},
		{"check extra", 2, []string{`unexpected "extra"`}},
		{"check gateway.yaml", 2, []string{`unexpected "gateway.yaml": want --config gateway.yaml`}},
		{"schema gateway.yaml", 2, []string{"unexpected \"gateway.yaml\"\n"}},
		{"serve --listen 8080", 2, []string{"--listen", "want host:port, for instance 127.0.0.1:8080"}},
		{"serve --listen :99999", 2, []string{"--listen", "want a port from 0 to 65535"}},
		{"healthcheck --listen here", 2, []string{"--listen", "want host:port"}},
		{"check", 0, []string{"30 chains, "}},
		{"check --config " + filepath.Join("..", "..", "deploy", "crossgate.yaml"), 0, []string{"valid: ", "crossgate.yaml: "}},
		{"check --config " + kept, 0, []string{
			"passthrough host a: keepHost: its origin gets the client's Host", "accepted: a.example, b.example\n",
			"passthrough host c: keepHost:", "accepted: any that no other host has; set hosts",
		}},
		{"check --config missing.yaml", 1, []string{"missing.yaml"}},
		{"check --config " + wrong, 1, []string{
			"index.postgres: line 1: malformed PostgreSQL URL", "listen: line 2:", "chains[0].endpoints: line 3:", "venues[0]: line 4:",
			"surprise: line 5:",
		}},
		{"serve --config " + wrong, 1, []string{"configuration " + wrong + ": ", "listen: line 2:", "surprise: line 5:"}},
		{"check --config " + hooks, 1, []string{"3 mistakes", "events.redis: line 3", "events.webhooks[0].secrets[0]: line 4", "events.webhooks[0].filter: line 4"}},
		{"check --config " + noCertificate, 1, []string{"venues[0]", "telemetry.tls: line 3: certificate of this gateway: no such file"}},
		{"serve --config " + noCertificate, 1, []string{"crossgate: configuration " + noCertificate + ": "}},
		{"doctor --config " + offline, 1, []string{"Ethereum (1)", "WRONG", "1 of 2 endpoints"}},
	} {
		var said bytes.Buffer
		code := run(context.Background(), strings.Fields(test.line), &said, &said)
		if code != test.code {
			t.Errorf("crossgate %s = %d, want %d: %s", test.line, code, test.code, said.String())
		}
		golden.Contains(t, test.line, said.String(), test.says...)
		if strings.Contains(said.String(), "SECRET") {
			t.Errorf("crossgate %s told a key: %s", test.line, said.String())
		}
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAReportThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, line := range []string{"help", "check", "schema", "--version"} {
		var said bytes.Buffer
		if code := run(t.Context(), strings.Fields(line), full{}, &said); code != 1 || !strings.Contains(said.String(), "no space left") {
			t.Errorf("crossgate %s = %d, %s", line, code, said.String())
		}
	}
}

// TestCheckTellsEachMistakeOnce proves that a mistake in the file is not reported again by the parts built from it.
func TestCheckTellsEachMistakeOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	const mistakes = `chains: [{id: 1, endpoints: [{name: a, url: "ftp://a.example"}, {name: b, url: "https://${NOT_SET}"}]}]
venues:
  - {name: 0x, key: "${NOT_SET}", endpoints: [{url: "https://c.example"}]}
  - {name: nobody, endpoints: [{url: "ftp://d.example"}]}
prices: {defillama: [{url: "ftp://e.example"}]}
tokens: {lists: [{name: list, endpoints: [{url: "ftp://f.example"}]}]}
`
	write(t, file, mistakes)
	var said bytes.Buffer
	run(context.Background(), []string{"check", "--config", file}, &said, &said)
	for _, want := range []string{
		"7 mistakes", "chains[0].endpoints[0].url", "chains[0].endpoints[1].url", "venues[0].key", "venues[1]: line 4", "venues[1].endpoints[0].url",
	} {
		if strings.Count(said.String(), want) != 1 {
			t.Errorf("check said %s, want %q in it once", said.String(), want)
		}
	}
}

func TestServeAnswersAndStops(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := context.WithCancel(context.Background())
	var said announcement
	var log bytes.Buffer
	said.heard = stop // it may stop once it has printed its address
	const offline = "chains: [{id: 1, endpoints: [{url: \"http://127.0.0.1:9\"}]}]\ntelemetry: {admin: \"127.0.0.1:0\"}\n"
	write(t, "offline.yaml", offline)
	line := []string{"serve", "--config", "offline.yaml", "--listen", "127.0.0.1:0", "--log-format", "json"}
	if code := run(ctx, line, &said, &log); code != 0 {
		t.Errorf("serve = %d, want 0: %s", code, log.String())
	}
	if !strings.HasPrefix(said.text, "crossgate listening on http://127.0.0.1:") {
		t.Errorf("serve said %q", said.text)
	}
	for _, want := range []string{
		`"msg":"crossgate started","version":"devel"`, `"configuration":"offline.yaml"`, `"database":"crossgate.db","chains":1,"venues":0,"clients":"http://127.0.0.1:`,
		`"operators":"http://127.0.0.1:`, `"msg":"crossgate stops: draining`, `"msg":"crossgate stopped: all requests answered`,
	} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("want %s once in the log:\n%s", want, log.String())
		}
	}
}

func TestIndexCommandsCreateNoDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{"status", "audit", "repair", "withdraw --chain 1 --from 1"} {
		var said bytes.Buffer
		code := run(t.Context(), append([]string{"index"}, strings.Fields(line)...), &said, &said)
		if files, err := os.ReadDir("."); code != 1 || err != nil || len(files) > 0 || !strings.Contains(said.String(), "the file does not exist") {
			t.Errorf("index %s = %d and said %s, and there are %v, %v; want nothing made", line, code, said.String(), files, err)
		}
	}
}

func TestUpgradeCheckTellsWhoCanOpenADatabase(t *testing.T) {
	for _, test := range []struct {
		schema store.Schema
		want   string
		fails  bool
	}{
		{store.Schema{Known: 15}, "database orders.db: nothing is in it yet", false},
		{store.Schema{Version: 12, Oldest: 7, Known: 15}, "schema version 7 or later can open it", false},
		{store.Schema{Version: 12, Oldest: 7, Known: 15}, "it migrates the database to 15", false},
		{store.Schema{Version: 15, Oldest: 7, Known: 15}, "nothing to migrate", false},
		{store.Schema{Version: 16, Oldest: 7, Known: 15}, "opens the database as it is", false},
		{store.Schema{Version: 16, Oldest: 16, Known: 15}, "cannot open the database", true},
	} {
		var said bytes.Buffer
		err := printSchema(&said, store.Location{Path: "orders.db"}, test.schema)
		if (err != nil) != test.fails || !strings.Contains(said.String(), test.want) {
			t.Errorf("%+v: said %q, %v; want %q", test.schema, said.String(), err, test.want)
		}
	}
}

// announcement calls heard when something is written to it.
type announcement struct {
	text  string
	heard func()
}

func (a *announcement) Write(text []byte) (int, error) {
	a.text += string(text)
	a.heard()
	return len(text), nil
}
