package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crossgate/internal/linktest"
	"crossgate/internal/must"
)

// peer is another caching proxy, from the system's packages, as operators would set it up in front of an origin: hits
// on persistent connections, one processor.
type peer struct {
	program string
	files   func(origin, listen string) map[string]string // by name
	command func(directory, listen string) []string
}

// nginxWith returns nginx with the relevant parts of Debian's nginx.conf, lines of its http section, and further files.
func nginxWith(http func(origin, listen string) string, further func(origin, listen string) map[string]string) peer {
	return peer{
		program: "nginx",
		files: func(origin, listen string) map[string]string {
			files := further(origin, listen)
			files["nginx.conf"] = `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 768; }
http {
  keepalive_requests 1000000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  ` + http(origin, listen) + `
}
`
			return files
		},
		command: func(directory, _ string) []string {
			return []string{"-p", directory, "-c", "nginx.conf", "-e", "stderr"}
		},
	}
}

// nginx caches with the given settings, and speaks TLS if there is a certificate.
func nginx(settings, certificate string) peer {
	return nginxWith(func(origin, listen string) string {
		if certificate != "" {
			listen += " ssl http2; ssl_certificate " + certificate + "; ssl_certificate_key " + certificate
		}
		return "sendfile on; tcp_nopush on; proxy_cache_path kept keys_zone=kept:10m;\n  " + settings +
			"\n  server { listen " + listen + "; location / { proxy_cache kept; proxy_pass http://" + origin + "; } }"
	}, func(string, string) map[string]string { return map[string]string{} })
}

// peers of hotServers, with TLS if a certificate is given. nginx is measured three times: as Debian configures it, but
// without the access log, because crossgate logs no cached answers; with that log; and with the cache's files kept
// open. HAProxy keeps answers in memory. Varnish does not speak TLS.
func peers(certificate string) map[string]peer {
	secured := ""
	if certificate != "" {
		secured = "ssl crt " + certificate + " alpn h2,http/1.1"
	}
	all := map[string]peer{
		"nginx":            nginx("access_log off; gzip on;", certificate),
		"nginx-with-log":   nginx("access_log access.log; gzip on;", certificate),
		"nginx-open-files": nginx("access_log off; gzip on; open_file_cache max=1000;", certificate),
		"haproxy": haproxy(`
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 5s
cache kept
  total-max-size 4
  max-object-size 100000
  max-age 3600
  process-vary on
frontend clients
  bind :80 ` + secured + `
  http-request cache-use kept
  http-response cache-store kept
  default_backend order
backend order
  server order 10.0.0.11:8080
`),
	}
	if certificate == "" {
		all["varnish"] = varnish
	}
	return all
}

var varnish = peer{
	program: "varnishd",
	files: func(origin, _ string) map[string]string {
		host, port, _ := net.SplitHostPort(origin)
		return map[string]string{"varnish.vcl": fmt.Sprintf("vcl 4.1;\nbackend order { .host = %q; .port = %q; }\n", host, port)}
	},
	command: func(directory, listen string) []string {
		return []string{
			"-j", "none", "-F", "-a", listen, "-f", filepath.Join(directory, "varnish.vcl"), "-s", "malloc,32m",
			"-n", filepath.Join(directory, "work"), "-T", "none", "-p", "http_gzip_support=off",
		}
	},
}

// start runs the peer until the benchmark ends, through another command if one is given. It returns false if the peer
// is not installed.
func (p peer) start(b testing.TB, origin string, by ...string) (address string, pid int, installed bool) {
	b.Helper()
	program, err := exec.LookPath(p.program)
	if err != nil {
		b.Logf("%s is not installed, so it is left out (Debian and Ubuntu: apt-get install %s)", p.program, strings.TrimSuffix(p.program, "d"))
		return "", 0, false
	}
	address, directory := freeAddress(b), b.TempDir()
	for name, content := range p.files(origin, address) {
		must.Do(b, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
	}
	by = slices.Concat(by, []string{program}, p.command(directory, address))
	process := exec.Command(by[0], by[1:]...)
	process.Stderr = os.Stderr
	must.Do(b, process.Start())
	b.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		_ = process.Wait() // however it ends
	})
	awaitListener(b, address)
	return address, process.Process.Pid, true
}

func freeAddress(b testing.TB) string {
	b.Helper()
	return must.Get(linktest.FreeAddress())(b)
}

// await retries until success, for a time that only a very busy machine needs.
func await(b testing.TB, what string, try func(context.Context) error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 3*patience)
	defer cancel()
	for err := try(ctx); err != nil; err = try(ctx) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			b.Fatalf("still not %s: %v", what, err)
		}
	}
}

// patience is how long a very busy machine may take.
const patience = time.Minute

func awaitListener(b testing.TB, address string) {
	b.Helper()
	await(b, "a listener at "+address, func(ctx context.Context) error {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			connection.Close()
		}
		return err
	})
}

// processorTimeOf returns what a process and its descendants have used, in steps of 10 ms: fields 14 and 15 of
// proc(5)'s stat, in the 100 ticks a second of every Linux.
func processorTimeOf(pid int) (time.Duration, error) {
	directory := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(directory, "stat"))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the name before may contain spaces
	fields := strings.Fields(after)
	const userField, kernelField, tick = 14 - 3, 15 - 3, 10 * time.Millisecond
	user, userErr := strconv.Atoi(fields[userField])
	kernel, kernelErr := strconv.Atoi(fields[kernelField])
	if err := errors.Join(userErr, kernelErr); err != nil {
		return 0, err
	}
	used := time.Duration(user+kernel) * tick
	lists, err := fs.Glob(os.DirFS(directory), "task/*/children")
	if err != nil {
		return 0, err
	}
	for _, list := range lists {
		children, err := os.ReadFile(filepath.Join(directory, list))
		if err != nil {
			continue // a thread that has just ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			id, err := strconv.Atoi(child)
			if err != nil {
				return 0, err
			}
			of, err := processorTimeOf(id)
			if err != nil {
				return 0, err
			}
			used += of
		}
	}
	return used, nil
}
