package bench

import (
	"fmt"
	"path/filepath"
	"strings"
)

// haproxy balances between gateways as docs/operations.md says; checked has it look at /readyz.
func haproxy(checked bool) peer {
	return peer{
		program: "haproxy",
		files: func(origins, listen string) map[string]string {
			var servers strings.Builder
			check, options := "", ""
			if checked {
				check, options = " check inter 500ms fall 2 rise 2", "option httpchk GET /readyz\n  timeout check 800ms"
			}
			for i, origin := range strings.Fields(origins) {
				fmt.Fprintf(&servers, "  server gateway%d %s%s\n", i, origin, check)
			}
			return map[string]string{"haproxy.cfg": `
defaults
  mode http
  timeout connect 500ms
  timeout client 60s
  timeout server 1850ms
  retries 2
  option redispatch 1
  retry-on conn-failure empty-response response-timeout
frontend clients
  bind ` + listen + `
  default_backend gateways
backend gateways
  balance roundrobin
  ` + options + "\n" + servers.String()}
		},
		command: func(directory, _ string) []string {
			return []string{"-db", "-f", filepath.Join(directory, "haproxy.cfg")}
		},
	}
}
