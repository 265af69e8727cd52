package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
)

// TestDemonstration follows every printed link to the gateway, pages and JSON, and reads the files that are written.
func TestDemonstration(t *testing.T) {
	at := t.TempDir()
	d := demonstration{
		listen: ":0", operators: ":0", control: ":0", // as in a container: links must work anyway
		config: filepath.Join(at, "demo.yaml"), wallet: filepath.Join(at, ".env"),
	}
	out, printed := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		err := d.run(ctx, printed)
		ended <- err
		printed.CloseWithError(err)
	}()
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "/v1.0/chain/transaction?chainId=7565164") { // the last line
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // until the other end is closed
	followLinks(t, strings.Join(said, "\n"))
	for _, file := range []string{d.config, d.wallet} {
		if !slices.ContainsFunc(said, func(line string) bool { return strings.HasSuffix(line, "  "+file) }) {
			t.Errorf("%s is not named:\n%s", file, strings.Join(said, "\n"))
		}
	}
	must.Get(config.Load(d.config))(t)
	settings, err := os.ReadFile(d.wallet)
	if gateway, _, _ := strings.Cut(said[2], "/\n"); err != nil || !strings.Contains(string(settings), "\nGATEWAY="+strings.TrimSuffix(gateway[strings.Index(gateway, "http"):], "/")+"\n") {
		t.Errorf("the wallet's settings are %s, %v; want the gateway of %q", settings, err, said[2])
	}
	stop()
	must.Do(t, <-ended)
}

func followLinks(t *testing.T, said string) {
	t.Helper()
	if strings.Contains(said, "[::]") {
		t.Errorf("a browser cannot open these:\n%s", said)
	}
	pages := 0
	for _, link := range regexp.MustCompile(`http://\S+/(?:docs|order|locked|swap|api|v1\.0)\S*`).FindAllString(said, -1) {
		response, err := http.Get(link)
		if err != nil {
			t.Error(err)
			continue
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		isJSON := strings.Contains(link, "/api/") || strings.Contains(link, "/v1.0/")
		if !isJSON {
			pages++
		}
		kind := response.Header.Get("Content-Type")
		if response.StatusCode != http.StatusOK || strings.HasPrefix(kind, "application/json") != isJSON || strings.HasPrefix(kind, "text/html") == isJSON {
			t.Errorf("%s: %s of type %s", link, response.Status, kind)
		}
	}
	if pages < 15 {
		t.Errorf("%d pages are linked:\n%s", pages, said)
	}
}
