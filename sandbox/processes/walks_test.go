package processes_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestWalks runs the commands of docs/walks, in blocks that begin with ```console: lines after "$ " run in a shell, in
// the order of the page, and must print the lines below them. … matches what differs between runs, and a line that is …
// matches any lines. On the pages 127.0.0.1:8080 is a gateway in front of a sandbox, and :8090 the sandbox.
func TestWalks(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "walks", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("walks: %q, %v", pages, err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			walk(t, string(must.Get(os.ReadFile(page))(t)))
		})
	}
}

var (
	shown  = regexp.MustCompile("(?s)```console\n(.*?)```")
	prompt = regexp.MustCompile(`(?m)^\$ (.*(?:\n> .*)*)$`)
)

func walk(t *testing.T, page string) {
	t.Helper()
	world := sandboxtest.Start(t, sandbox.Options{})
	at := t.TempDir()
	demo := world.Config(filepath.Join(at, "orders.db"))
	shipped := must.Get(os.ReadFile(filepath.Join("..", "..", "deploy", "crossgate.yaml")))(t)
	for name, text := range map[string][]byte{"demo.yaml": demo, "crossgate.yaml": shipped} {
		must.Do(t, os.WriteFile(filepath.Join(at, name), text, 0o600))
	}
	gateway := serveApart(t, string(world.Config(filepath.Join(t.TempDir(), "orders.db"))))
	gateway.until(t, "level with all chains", lockedFor(world.Takers()[0].Address.Hex()), isLevel)
	perform(t, page, at, strings.NewReplacer("http://127.0.0.1:8080", gateway.url, "http://127.0.0.1:8090", world.URL()))
}

// TestRunbookFindsTheLock follows the runbook's advice for a locked table.
func TestRunbookFindsTheLock(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("psql is not there; Debian and Ubuntu: apt-get install postgresql-client")
	}
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "runbook.md")))(t)
	_, section, found := strings.Cut(string(text), "\n## A locked table\n")
	if section, _, _ = strings.Cut(section, "\n## "); !found {
		t.Fatal("the runbook has no section about a locked table")
	}
	r, operators := startReplicated(t, sandbox.Options{}), freeAddress(t)
	gateway := serveApart(t, withOperators(r.config, operators))
	gateway.until(t, "level with all chains", lockedFor(r.taker), isLevel)
	release := must.Get(r.server.Hold("orders", "SET application_name = 'migration'; BEGIN; LOCK TABLE events, orders IN ACCESS EXCLUSIVE MODE"))(t)
	defer func() { _ = release() }() // its session was ended
	state := func(want string) {
		t.Helper()
		eventually(t, "the gateway says "+want, func() (string, bool) {
			measured := request(t, http.MethodGet, "http://"+operators+"/metrics", "")
			return fmt.Sprint(measured.status), strings.Contains(measured.body, "\n"+want+"\n")
		})
	}
	state("crossgate_store_up 0")
	database := regexp.MustCompile(`postgres: "([^"]+)"`).FindStringSubmatch(r.config)[1]
	perform(t, section, t.TempDir(), strings.NewReplacer("http://127.0.0.1:9464", "http://"+operators, "$DATABASE", database))
	state("crossgate_store_up 1")
}

// perform runs the blocks of a page in a directory, with this test's addresses.
func perform(t *testing.T, page, at string, here *strings.Replacer) {
	t.Helper()
	blocks := shown.FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Error("the page shows no command")
	}
	for _, block := range blocks {
		lines := prompt.FindAllStringSubmatchIndex(block[1], -1)
		for i, line := range lines {
			end := len(block[1])
			if i+1 < len(lines) {
				end = lines[i+1][0]
			}
			asked, want := strings.ReplaceAll(block[1][line[2]:line[3]], "\n> ", "\n"), strings.TrimPrefix(block[1][line[1]:end], "\n")
			shell := exec.CommandContext(t.Context(), "sh", "-c", here.Replace(asked))
			shell.Dir = at
			shell.Env = append(os.Environ(), "PATH="+filepath.Dir(program(t))+":"+os.Getenv("PATH"))
			got, _ := shell.CombinedOutput() // what it ends with is for the page to show: echo $?
			if !isShown(want, string(got)) {
				t.Errorf("$ %s\nprints\n%s\nthe page shows\n%s", asked, got, want)
			}
		}
	}
}

// isShown reports whether a command's output matches what a page shows.
func isShown(want, got string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for line := range strings.Lines(want) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, "\n")), "…", ".*") + `\n`)
	}
	pattern.WriteString(`\z`)
	return regexp.MustCompile(pattern.String()).MatchString(got)
}
