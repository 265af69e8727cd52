package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/proxy/passthrough"
	"crossgate/upstream"
)

// desyncVariable enables TestNobodyIsAnsweredForAnother, which takes minutes and needs system programs.
const desyncVariable = "CROSSGATE_DESYNC"

// front is a proxy from the system's packages in front of origin, with persistent connections to it.
type front struct {
	program string
	files   func(origin, listen string) map[string]string // by name
	command func(directory, listen string) []string
}

func nginxFront(settings, location string) front {
	return front{
		program: "nginx",
		files: func(origin, listen string) map[string]string {
			return map[string]string{"nginx.conf": `
daemon off; master_process off; pid nginx.pid; error_log stderr crit;
events { worker_connections 768; }
http {
  access_log off; ` + settings + `
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream origin { server ` + origin + `; keepalive 4; }
  server { listen ` + listen + `; location / { proxy_pass http://origin; ` + location + ` } }
}
`}
		},
		command: func(directory, _ string) []string {
			return []string{"-p", directory, "-c", "nginx.conf", "-e", "stderr"}
		},
	}
}

func haproxyFront(settings string) front {
	return front{
		program: "haproxy",
		files: func(origin, listen string) map[string]string {
			return map[string]string{"haproxy.cfg": `
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend clients
  bind ` + listen + `
  option forwardfor
  ` + settings + `
  default_backend origin
backend origin
  http-reuse always
  server origin ` + origin + "\n"}
		},
		command: func(directory, _ string) []string {
			return []string{"-db", "-f", filepath.Join(directory, "haproxy.cfg")}
		},
	}
}

// fronts are configured as packaged, and as laxly as possible.
var fronts = map[string]front{
	"nginx":      nginxFront("", ""),
	"nginx kept": nginxFront("", `proxy_http_version 1.1; proxy_set_header Connection "";`),
	"nginx lax": nginxFront("ignore_invalid_headers off; underscores_in_headers on; merge_slashes off;",
		`proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off;`),
	"haproxy":     haproxyFront(""),
	"haproxy lax": haproxyFront("option accept-invalid-http-request"),
	"varnish": {
		program: "varnishd",
		files: func(origin, _ string) map[string]string {
			host, port, _ := net.SplitHostPort(origin)
			return map[string]string{"varnish.vcl": fmt.Sprintf(
				"vcl 4.1;\nbackend origin { .host = %q; .port = %q; }\nsub vcl_recv { return (pass); }\n", host, port)}
		},
		command: func(directory, listen string) []string {
			return []string{
				"-j", "none", "-F", "-a", listen, "-f", filepath.Join(directory, "varnish.vcl"), "-s", "malloc,32m",
				"-n", filepath.Join(directory, "work"), "-T", "none",
			}
		},
	},
}

// start runs the front until the test ends, or skips the test if it is not installed.
func (f front) start(t *testing.T, origin string) (address string) {
	t.Helper()
	program, err := exec.LookPath(f.program)
	if err != nil {
		t.Skipf("%s is not installed (Debian and Ubuntu: apt-get install nginx haproxy varnish)", f.program)
	}
	address = must.Get(linktest.FreeAddress())(t)
	directory := t.TempDir()
	for name, content := range f.files(origin, address) {
		must.Do(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
	}
	process := exec.Command(program, f.command(directory, address)...)
	var said strings.Builder
	process.Stdout, process.Stderr = &said, &said
	must.Do(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		_ = process.Wait() // however it ends
		if t.Failed() {
			t.Logf("%s said\n%s", f.program, &said)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for tick := time.Tick(20 * time.Millisecond); ; {
		if connection, err := new(net.Dialer).DialContext(ctx, "tcp", address); err == nil {
			connection.Close()
			return address
		}
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatalf("%s does not listen", f.program)
		}
	}
}

// attacks returns requests whose end two readers may see in different places: every way to declare chunks, with every
// length, and with something in the body that another reader takes for a request.
func attacks() (all []string) {
	const hidden = "GET /smuggled HTTP/1.1\r\nHost: h\r\nX-Rest: "
	codings := []string{
		"", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding : chunked\r\n", "Transfer-Encoding:\tchunked\r\n", " Transfer-Encoding: chunked\r\n",
		"X: y\nTransfer-Encoding: chunked\r\n", "X: y\rTransfer-Encoding: chunked\r\n", "Transfer-Encoding: \x0bchunked\r\n",
		"Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding: xchunked\r\n",
		"Transfer-Encoding: identity, chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding: \"chunked\"\r\n",
		"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n",
		"Transfer_Encoding: chunked\r\n", "Transfer-Encoding\x00: chunked\r\n", "Transfer-Encoding: chunked;q=1\r\n", "Transfer-Encoding: ChUnKeD\r\n",
		"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", "Connection: Content-Length\r\n", "Expect: 100-continue\r\n", "Expect: x\r\n",
		"\x00Transfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nConnection: close\r\nConnection: keep-alive\r\n",
	}
	bodies := []string{
		"0\r\n\r\n" + hidden, "0\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n" + hidden, "0\n\r\n" + hidden, "0;\n\r\n" + hidden, "00000\r\n\r\n" + hidden,
		"3\r\nabc\r\n0\r\n\r\n" + hidden, "0x0\r\n\r\n" + hidden, "-0\r\n\r\n" + hidden, "0 \r\n\r\n" + hidden, "\r\n" + hidden, hidden,
		"1\r\nZ\n0\r\n\r\n" + hidden, "1;x=\r\"\r\nZ\r\n0\r\n\r\n" + hidden, "ffffffffffffffff\r\nZ\r\n0\r\n\r\n" + hidden,
	}
	for _, version := range []string{"1.1", "1.0\r\nConnection: keep-alive"} {
		for _, coding := range codings {
			for _, body := range bodies {
				for _, length := range []string{
					"", "Content-Length: 0\r\n", "Content-Length: 4\r\n", "Content-Length:  +4\r\n", "Content-Length: 4\r\nContent-Length: 0\r\n",
					fmt.Sprintf("Content-Length: %d\r\n", len(body)), fmt.Sprintf("Content-Length: %d, %d\r\n", len(body), len(body)),
				} {
					all = append(all, "POST /attack HTTP/"+version+"\r\nHost: h\r\n"+length+coding+"X-Forwarded-For: 6.6.6.6\r\n\r\n"+body)
				}
			}
		}
	}
	return all
}

// TestNobodyIsAnsweredForAnother sends attacks through proxies that share server connections between their clients.
// Each later client must get the answer to its own request.
func TestNobodyIsAnsweredForAnother(t *testing.T) {
	if os.Getenv(desyncVariable) == "" {
		t.Skipf("takes minutes: %s=1 has it run", desyncVariable)
	}
	for name, each := range fronts {
		t.Run(name, func(t *testing.T) {
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			var mu sync.Mutex
			spoofed := 0
			servingOn(t, listener, func(w http.ResponseWriter, r *http.Request) {
				if hops := r.Header["X-Forwarded-For"]; len(hops) > 0 && strings.Contains(hops[len(hops)-1], "6.6.6.6") {
					mu.Lock()
					spoofed++
					mu.Unlock()
				}
				_, _ = io.WriteString(w, r.URL.Path)
			}, func(o *Options) { o.BodyBytes = 64 << 10 })
			address := each.start(t, listener.Addr().String())
			attackAll(t, address)
			refuseBodies(t, address)
			if name == "haproxy" && spoofed > 0 {
				t.Errorf("%d requests came with a forged last X-Forwarded-For", spoofed)
			}
		})
	}
}

// attackAll sends every attack, followed by requests of two clients.
func attackAll(t *testing.T, address string) {
	t.Helper()
	for i, attack := range attacks() {
		provoke(t, address, attack)
		for range 2 {
			if got, want := victim(t, address, i), fmt.Sprintf("200 /victim/%d", i); got != want {
				t.Fatalf("after %q: %s, want %s", attack, got, want)
			}
		}
	}
}

// provoke sends an attack and waits a moment for an answer.
func provoke(t *testing.T, address, attack string) {
	t.Helper()
	connection := must.Get(net.Dial("tcp", address))(t)
	defer connection.Close()
	const moment = 15 * time.Millisecond
	_, _ = io.WriteString(connection, attack) // a proxy may refuse it
	_ = connection.SetReadDeadline(time.Now().Add(moment))
	_, _ = io.Copy(io.Discard, connection)
}

// victim requests a path of its own and returns the answer.
func victim(t *testing.T, address string, number int) string {
	t.Helper()
	connection := must.Get(net.Dial("tcp", address))(t)
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(patience))
	request := fmt.Sprintf("GET /victim/%d HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1\r\nConnection: close\r\n\r\n", number)
	if _, err := io.WriteString(connection, request); err != nil {
		return err.Error()
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %.100s", response.StatusCode, body)
}

// refuseBodies sends too long bodies, several concurrently. Their clients must learn that, and others be answered.
func refuseBodies(t *testing.T, address string) {
	t.Helper()
	const rounds = 50
	for i := range rounds {
		var asking sync.WaitGroup
		for _, length := range []int{300_000, 700_000} {
			asking.Go(func() {
				response, err := http.Post("http://"+address+"/attack", "text/plain", strings.NewReader(strings.Repeat("b", length)))
				if err != nil {
					t.Error(err)
					return
				}
				defer response.Body.Close()
				if response.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("a body of %d bytes: %s", length, response.Status)
				}
			})
		}
		asking.Go(func() {
			if got, want := victim(t, address, i), fmt.Sprintf("200 /victim/%d", i); got != want {
				t.Errorf("beside refused bodies: %s, want %s", got, want)
			}
		})
		asking.Wait()
	}
}

// behind is an origin for package passthrough.
type behind struct{ pool *upstream.Pool }

func (b behind) Forward(ctx context.Context, _ string, f upstream.Forward) (*http.Response, error) {
	return b.pool.Forward(ctx, f)
}

// listenOnLoopback returns a listener that the test closes through its server.
func listenOnLoopback(t *testing.T) net.Listener {
	t.Helper()
	return must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
}

// passingOn starts a server that forwards everything to an address, with streamed bodies and a cache.
func passingOn(t *testing.T, address string) string {
	t.Helper()
	endpoint := pooltest.Endpoint(t, "origin", nil, upstream.EndpointOptions{URL: "http://" + address, Forwards: true})
	through := must.Get(passthrough.New(passthrough.Options{
		Origins: behind{upstream.NewPool("origin", endpoint)}, MaxBytes: 8 << 20, Logger: slog.New(slog.DiscardHandler),
		Client: func(*http.Request) netip.Addr { return netip.Addr{} },
	}))(t)
	t.Cleanup(through.Close)
	through.Configure([]passthrough.Host{{Name: "o", MaxBody: 1 << 20}})
	listener := listenOnLoopback(t)
	servingOn(t, listener, func(w http.ResponseWriter, r *http.Request) {
		if err := through.Serve(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}, func(o *Options) { o.Stream = func(*http.Request) bool { return true } })
	return listener.Addr().String()
}

// TestNobodyIsAnsweredForAnotherByAnOrigin sends attacks to a server that forwards them, between proxies that share
// connections between their clients. Cached answers must be right too: each client asks twice.
func TestNobodyIsAnsweredForAnotherByAnOrigin(t *testing.T) {
	if os.Getenv(desyncVariable) == "" {
		t.Skipf("takes minutes: %s=1 has it run", desyncVariable)
	}
	for _, pair := range [][2]string{{"", "nginx lax"}, {"", "haproxy lax"}, {"nginx lax", "haproxy"}, {"haproxy lax", "nginx kept"}} {
		t.Run(fmt.Sprintf("%s before, %s behind", pair[0], pair[1]), func(t *testing.T) {
			origin := listenOnLoopback(t)
			servingOn(t, origin, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=100")
				_, _ = io.WriteString(w, r.URL.Path)
			}, func(o *Options) { o.BodyBytes = 64 << 10 })
			address := passingOn(t, fronts[pair[1]].start(t, origin.Addr().String()))
			if pair[0] != "" {
				address = fronts[pair[0]].start(t, address)
			}
			attackAll(t, address)
		})
	}
}
