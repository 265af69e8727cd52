package processes_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crossgate/cache/redistest"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestDoctorNamesKeysInClearText has the command look at two endpoints far away whose URLs begin with http://, through a
// proxy: one host takes TLS as well, the other does not.
func TestDoctorNamesKeysInClearText(t *testing.T) {
	const key, takes, refuses = "canary-77c1", "rpc.provider.test", "rpc.another.test"
	world := sandboxtest.Start(t, sandbox.Options{})
	authority := redistest.NewAuthority(t)
	issued := authority.Issue(t, takes)
	pair, err := tls.LoadX509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewUnstartedServer(http.NotFoundHandler())
	page.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	page.StartTLS()
	t.Cleanup(page.Close)
	text := string(world.Config(filepath.Join(t.TempDir(), "orders.db")))
	first := regexp.MustCompile(`\{id: 1, .*\{url: "([^"]*)"\}`).FindStringSubmatch(text)
	if first == nil {
		t.Fatalf("no endpoint of Ethereum in\n%s", text)
	}
	text = strings.Replace(text, `{url: "`+first[1]+`"}`, `{url: "`+first[1]+`"}, {name: clear, url: "http://`+takes+`/`+key+`"}, `+
		`{name: plain, url: "http://`+refuses+`/`+key+`"}`, 1)
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(proxyTo(map[string]string{takes + ":443": page.Listener.Addr().String()}, first[1]))
	t.Cleanup(proxy.Close)
	command := exec.CommandContext(t.Context(), program(t), "doctor", "--config", file)
	command.Env = append(os.Environ(), "HTTP_PROXY="+proxy.URL, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", "SSL_CERT_FILE="+authority.File)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err == nil || command.ProcessState.ExitCode() != 1 {
		t.Errorf("doctor ended with %v, want exit status 1", err)
	}
	const clearText = "url begins with http://: calls, and the key if it has one, are sent in clear text"
	for _, want := range []string{`clear +WRONG .*` + clearText + `, though its host takes https://`, `plain +limited .*` + clearText + `\n`} {
		if !regexp.MustCompile(want).MatchString(said.String()) {
			t.Errorf("doctor said\n%swant %q in it", said.String(), want)
		}
	}
	if strings.Contains(said.String(), key) {
		t.Errorf("doctor said the key:\n%s", said.String())
	}
}

// proxyTo is an HTTP proxy: it connects the hosts that take TLS, and has a node answer what is sent in clear text.
func proxyTo(hosts map[string]string, node string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			response, err := http.Post(node, "application/json", r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer response.Body.Close()
			_, _ = io.Copy(w, response.Body) // the client asks again
			return
		}
		far, err := net.Dial("tcp", hosts[r.Host])
		if err != nil {
			http.Error(w, "no way to "+r.Host, http.StatusBadGateway)
			return
		}
		defer far.Close()
		w.WriteHeader(http.StatusOK)
		near, pending, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer near.Close()
		go func() { _, _ = io.Copy(far, pending) }()
		_, _ = io.Copy(near, far)
	})
}
