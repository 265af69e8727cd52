package admin

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/proxy/web"
	"crossgate/upstream"
)

// submit sends a form as a browser does that shows the status page.
func submit(handler http.Handler, target string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder
}

func TestFormsOfTheStatusPageCommand(t *testing.T) {
	node := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{Name: "node", URL: "http://node.invalid"}))(t)
	t.Cleanup(node.Close)
	handler := (&admin{Options: Options{
		Server: server{}, Gateway: gateway{endpoint: node}, Token: adminToken, Metrics: http.NotFoundHandler(), Logger: slog.New(slog.DiscardHandler),
		Pages: web.New(chain.Documented()),
	}}).handler()
	// What a form has beside what a button is for is empty.
	form := url.Values{"token": {adminToken}, "order": {""}, "chain": {""}, "path": {""}, "how": {"soft"}}
	for _, step := range []struct{ target, done, standing string }{
		{"/token", "token", "ready"},
		{"/endpoints/8453/node/cordon", "cordon", "cordoned"},
		{"/endpoints/8453/node/uncordon", "uncordon", "ready"},
	} {
		got := submit(handler, step.target, form)
		want := "/?done=" + url.QueryEscape(step.done) + "#commands"
		if got.Code != http.StatusSeeOther || got.Header().Get("Location") != want || node.Health().Standing != step.standing {
			t.Errorf("%s: HTTP %d to %s, the endpoint is %s", step.target, got.Code, got.Header().Get("Location"), node.Health().Standing)
		}
		page := httptest.NewRecorder()
		handler.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+want[:strings.IndexByte(want, '#')], http.NoBody))
		if said := commandsDone[step.done]; said == "" || !strings.Contains(page.Body.String(), said) {
			t.Errorf("after %s the page does not say %q", step.target, said)
		}
	}
	got := post(handler, "/endpoints/8453/node/uncordon") // by a program
	if want := `{"endpoint":"8453/node","standing":"ready"}`; got.Code != http.StatusOK || strings.TrimSpace(got.Body.String()) != want {
		t.Errorf("HTTP %d %s, want %s", got.Code, got.Body, want)
	}
	if got := submit(handler, "/purge", url.Values{"token": {adminToken}, "chain": {"1"}, "order": {""}, "how": {"hard"}}); got.Code != http.StatusSeeOther {
		t.Errorf("a purge by a form: HTTP %d %s", got.Code, got.Body)
	}
	node.Cordon()
	for name, test := range map[string]struct {
		target  string
		form    url.Values
		headers []string
		status  int
		said    string
	}{
		"without a token":         {"/endpoints/8453/node/uncordon", url.Values{}, nil, 401, "missing or wrong token"},
		"with another token":      {"/endpoints/8453/node/uncordon", url.Values{"token": {"x"}}, nil, 401, "missing or wrong token"},
		"with the token in a URL": {"/endpoints/8453/node/uncordon?token=" + adminToken, url.Values{}, nil, 401, "missing or wrong token"},
		"from another site":       {"/endpoints/8453/node/uncordon", form, []string{"Sec-Fetch-Site: cross-site"}, 403, ""},
		"of no endpoint":          {"/endpoints/1/node/uncordon", form, nil, 404, "no such endpoint"},
		"of nothing":              {"/purge", form, nil, 400, "nothing to purge"},
		"of no order":             {"/purge", url.Values{"token": {adminToken}, "order": {"0x12"}}, nil, 400, "order must be 0x"},
		"too long":                {"/purge", url.Values{"token": {adminToken}, "path": {strings.Repeat("a", longestForm)}}, nil, 400, "cannot be read"},
	} {
		got := submit(handler, test.target, test.form, test.headers...)
		if got.Code != test.status || !strings.Contains(got.Body.String(), test.said) || strings.Contains(got.Body.String(), adminToken) {
			t.Errorf("%s: HTTP %d, want %d and %q: %.300s", name, got.Code, test.status, test.said, got.Body)
		}
	}
	if standing := node.Health().Standing; standing != "cordoned" {
		t.Errorf("the endpoint is %s after commands that were refused", standing)
	}
}
