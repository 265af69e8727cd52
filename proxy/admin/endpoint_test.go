package admin

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

func TestOnlyOperatorsCommand(t *testing.T) {
	s, closed := handlerOf(gateway{}, adminToken), handlerOf(gateway{}, "")
	for name, test := range map[string]struct {
		handler http.Handler
		target  string
		headers []string
		status  int
	}{
		"no token is configured": {closed, "/endpoints/1/node/cordon", []string{"Authorization: Bearer "}, 401},
		"another token":          {s, "/endpoints/1/node/cordon", []string{"Authorization: Bearer x"}, 401},
		"another origin":         {s, "/endpoints/1/node/cordon", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, 403},
		"an origin alone":        {s, "/purge?chain=1", []string{"Origin: https://evil.example"}, 403},
		"no such endpoint":       {s, "/endpoints/1/node/cordon", nil, 404},
		"nothing to purge":       {s, "/purge", nil, 400},
		"no id":                  {s, "/purge?order=7", nil, 400},
		"no chain":               {s, "/purge?chain=x", nil, 400},
		"a path alone":           {s, "/purge?path=/a", nil, 400},
		"no way to purge":        {s, "/purge?chain=1&how=gently", nil, 400},
		"a path of no host":      {s, "/purge?chain=1&path=/a", nil, 400},
		"an unknown host":        {s, "/purge?host=x&chain=1", nil, 400},
		"as it should be":        {s, "/purge?chain=1", nil, 200},
		"no such command":        {s, "/endpoints/1/node/remove", nil, 404},
	} {
		if got := post(test.handler, test.target, test.headers...); got.Code != test.status {
			t.Errorf("%s: HTTP %d, want %d", name, got.Code, test.status)
		}
	}
}

func TestCommandsTellTheLogWhoRanThem(t *testing.T) {
	var log bytes.Buffer
	handler := (&admin{Options: Options{
		Server: server{}, Gateway: gateway{}, Token: adminToken, Metrics: http.NotFoundHandler(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}}).handler()
	post(handler, "/purge?chain=1&chain=137&how=hard")
	if got := post(handler, "/purge?host=orders&path=/a&path=/b&chain=1"); strings.TrimSpace(got.Body.String()) != `{"purged":3}` {
		t.Errorf("a host, with two paths, and a chain: %s", got.Body)
	}
	for _, want := range []string{
		`msg="operator purged cached answers" hard=true orders=0 chains=2 hosts=[] paths=0 by=192.0.2.1:1234`,
		`msg="operator purged cached answers" hard=false orders=0 chains=1 hosts=[orders] paths=2 by=192.0.2.1:1234`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}
