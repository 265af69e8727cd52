package proxy

import (
	"net/http"
	"strings"
	"testing"

	"crossgate/upstream"
)

func TestOperatorsCommandEndpoints(t *testing.T) {
	node, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "node", URL: "http://node.invalid/v2/aVerySecretKey"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	s := newWorld(t).server(t, func(o *Options) {
		o.AdminToken = adminToken
		o.Endpoint = func(of, name string) *upstream.Endpoint {
			if of != "8453" || name != "node" {
				return nil
			}
			return node
		}
	})
	for _, step := range []struct {
		command  string
		standing string
	}{
		{"breaker/open", "away"},
		{"breaker/closed", "ready"},
		{"breaker/auto", "ready"},
		{"cordon", "cordoned"},
		{"cordon", "cordoned"},
		{"breaker/open", "cordoned"},
		{"breaker/auto", "cordoned"},
		{"uncordon", "ready"},
	} {
		got := operatorPosts(s, "/endpoints/8453/node/"+step.command)
		told := string(body(t, got))
		want := `{"endpoint":"8453/node","standing":"` + step.standing + `"}`
		if got.StatusCode != http.StatusOK || strings.TrimSpace(told) != want || node.Health().Standing != step.standing {
			t.Errorf("POST %s: HTTP %d %s, want %s", step.command, got.StatusCode, told, want)
		}
	}
}

func TestOnlyOperatorsCommandEndpoints(t *testing.T) {
	s := newWorld(t).server(t, func(o *Options) {
		o.AdminToken = adminToken
		o.Endpoint = func(string, string) *upstream.Endpoint { return nil }
	})
	none := newWorld(t).server(t, func(o *Options) { o.AdminToken = adminToken })
	closed := newWorld(t).server(t)
	for name, test := range map[string]struct {
		s       *Server
		target  string
		headers []string
		status  int
	}{
		"no token is configured": {closed, "/endpoints/1/node/cordon", []string{"Authorization: Bearer "}, 401},
		"another token":          {s, "/endpoints/1/node/cordon", []string{"Authorization: Bearer x"}, 401},
		"another origin":         {s, "/endpoints/1/node/cordon", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, 403},
		"no such endpoint":       {s, "/endpoints/1/node/cordon", nil, 404},
		"no endpoints at all":    {none, "/endpoints/1/node/cordon", nil, 404},
		"no such command":        {s, "/endpoints/1/node/remove", nil, 404},
		"no such state":          {s, "/endpoints/1/node/breaker/ajar", nil, 404},
	} {
		if got := operatorPosts(test.s, test.target, test.headers...); got.StatusCode != test.status {
			t.Errorf("%s: HTTP %d, want %d", name, got.StatusCode, test.status)
		}
	}
}
