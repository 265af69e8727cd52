package bench

import (
	"fmt"
	"path/filepath"
	"strings"
)

// What HAProxy does about a gateway that cannot be reached or does not answer; every question of ours may be asked twice.
const (
	itself  = ""
	retries = "retry-on conn-failure empty-response response-timeout\n  timeout server 1700ms"
)

// haproxy balances between gateways as docs/operations.md says; checked has it look at /readyz, and ask them all when
// that has ruled out each.
func haproxy(checked bool, about string) peer {
	return peer{
		program: "haproxy",
		files: func(origins, listen string) map[string]string {
			var servers strings.Builder
			check, options := "", ""
			if checked {
				check, options = " check inter 1s fall 3 rise 2", "option httpchk GET /readyz\n  timeout check 1s\n  option allbackups"
			}
			for i, origin := range strings.Fields(origins) {
				fmt.Fprintf(&servers, "  server gateway%d %s%s\n", i, origin, check)
				if checked {
					fmt.Fprintf(&servers, "  server unchecked%d %s backup\n", i, origin)
				}
			}
			return map[string]string{"haproxy.cfg": `
defaults
  mode http
  timeout connect 500ms
  timeout client 60s
  timeout server 20s
  retries 2
  option redispatch 1
  ` + about + `
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

// nginxBalancer balances between gateways with nginx's own ways to notice one that is gone: it asks the next. upstream has
// more settings of the group.
func nginxBalancer(upstream string) peer {
	return peer{
		program: "nginx",
		files: func(origins, listen string) map[string]string {
			var servers strings.Builder
			for _, origin := range strings.Fields(origins) {
				fmt.Fprintf(&servers, "    server %s;\n", origin)
			}
			return map[string]string{"nginx.conf": `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 768; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream gateways {
` + servers.String() + "    " + upstream + `
  }
  server {
    listen ` + listen + `;
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_connect_timeout 500ms;
    }
  }
}
`}
		},
		command: func(directory, _ string) []string {
			return []string{"-p", directory, "-c", "nginx.conf", "-e", "stderr"}
		},
	}
}
