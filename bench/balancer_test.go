package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// balancers returns balancers as deploy/balancers ships them, and with minimal configurations.
func balancers(t *testing.T) map[string]peer {
	t.Helper()
	return map[string]peer{
		"haproxy": haproxy(shippedBalancer(t, "haproxy.cfg")),
		"nginx":   nginxBalancer(shippedBalancer(t, "nginx.conf")),
		"haproxy that knows little": haproxy(`
defaults
  mode http
  timeout connect 500ms
  timeout client 60s
  timeout server 20s
frontend clients
  bind :80
  default_backend gateways
backend gateways
  server gateway0 10.0.0.11:8080
`),
		"nginx that knows little": nginxBalancer(`
  upstream gateways {
    server 10.0.0.11:8080;
  }
  server {
    listen 80;
    location / { proxy_pass http://gateways; }
  }
`),
	}
}

func shippedBalancer(t *testing.T, file string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("..", "deploy", "balancers", file)))(t))
}

// between adapts a balancer's configuration to the gateways' addresses, repeating the shipped lines about the first
// gateway for each of them, and to another address to listen at.
func between(text, origins, listen string) string {
	var filled strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case strings.Contains(line, "10.0.0.11:8080"):
			for i, origin := range strings.Fields(origins) {
				filled.WriteString(strings.NewReplacer("10.0.0.11:8080", origin, "gateway0", fmt.Sprint("gateway", i), "unchecked0", fmt.Sprint("unchecked", i)).Replace(line))
			}
		case !strings.Contains(line, "10.0.0.12:8080"):
			filled.WriteString(strings.NewReplacer("bind :80", "bind "+listen, "listen 80;", "listen "+listen+";").Replace(line))
		}
	}
	return filled.String()
}

func haproxy(text string) peer {
	return peer{
		program: "haproxy",
		files: func(origins, listen string) map[string]string {
			return map[string]string{"haproxy.cfg": between(text, origins, listen)}
		},
		command: func(directory, _ string) []string {
			return []string{"-db", "-f", filepath.Join(directory, "haproxy.cfg")}
		},
	}
}

// nginxBalancer returns nginx with a file in its conf.d.
func nginxBalancer(text string) peer {
	return nginxWith(func(string, string) string { return "access_log off; include gateways.conf;" }, func(origins, listen string) map[string]string {
		return map[string]string{"gateways.conf": between(text, origins, listen)}
	})
}
