package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
)

func TestHealthcheckAsksTheGatewayOfThisMachine(t *testing.T) {
	for listen, want := range map[string]string{
		":8080": "http://127.0.0.1:8080/healthz", "0.0.0.0:80": "http://127.0.0.1:80/healthz", "[::]:80": "http://127.0.0.1:80/healthz",
		"10.0.0.1:80": "http://10.0.0.1:80/healthz", "gateway.example:80": "http://gateway.example:80/healthz",
	} {
		if got := healthURL(config.TLS{}, listen); got != want {
			t.Errorf("a gateway on %s is asked at %s, want %s", listen, got, want)
		}
	}
	lives := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"next":"0"}`) }))
	defer lives.Close()
	if status, err := askHealth(t.Context(), lives.URL+"/healthz"); status != http.StatusOK || err != nil {
		t.Errorf("a server with TLS: %d, %v", status, err)
	}
	file, exported := filepath.Join(t.TempDir(), "tls.yaml"), bytes.Buffer{}
	write(t, file, "listen: "+lives.Listener.Addr().String()+"\ntls: {certFile: a.pem, keyFile: a.key}\nchains: [{id: 1, endpoints: [{url: 'http://127.0.0.1:9'}]}]\n")
	if code := run(t.Context(), []string{"export", "--config", file}, &exported, &exported); code != 0 {
		t.Errorf("export from a server with TLS = %d: %s", code, exported.String())
	}
	ails := httptest.NewServer(http.NotFoundHandler())
	defer ails.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, server := range []*httptest.Server{ails, gone} {
		var said bytes.Buffer
		address := server.Listener.Addr().String()
		if code := run(t.Context(), []string{"healthcheck", "--listen", address}, &said, &said); code != 1 || !strings.Contains(said.String(), address) {
			t.Errorf("healthcheck = %d and said %s, want 1 and the address", code, said.String())
		}
	}
}

// TestSystemdIsToldOfReadinessLifeAndStop serves with a notification socket like systemd's.
func TestSystemdIsToldOfReadinessLifeAndStop(t *testing.T) {
	t.Chdir(t.TempDir())
	directory := must.Get(os.MkdirTemp("", "notify"))(t)
	defer os.RemoveAll(directory)
	socket := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(directory, "s"), Net: "unixgram"}))(t)
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", socket.LocalAddr().String())
	t.Setenv("WATCHDOG_USEC", "30000000")
	t.Setenv("WATCHDOG_PID", "")
	write(t, "offline.yaml", "chains: [{id: 1, endpoints: [{url: \"http://127.0.0.1:9\"}]}]\ntelemetry: {admin: \"\"}\n")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	var log bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"serve", "--config", "offline.yaml", "--listen", "127.0.0.1:0"}, &bytes.Buffer{}, &log)
	}()
	var told []string
	for text := make([]byte, 100); len(told) < 3; {
		n := must.Get(socket.Read(text))(t)
		if told = append(told, string(text[:n])); len(told) == 2 {
			stop()
		}
	}
	if code := <-ended; code != 0 || !slices.Equal(told, []string{"READY=1", "WATCHDOG=1", "STOPPING=1"}) {
		t.Errorf("serve = %d and told systemd %q: %s", code, told, log.String())
	}
}
