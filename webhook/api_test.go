package webhook

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"crossgate/internal/must"
	"crossgate/order/feed"
	"crossgate/store"
)

// operators is the API of a deliverer, without permission checks.
type operators struct {
	*world
	d      *Deliverer
	mux    *http.ServeMux
	logged *bytes.Buffer
}

// newOperators returns the deliverer of a world in which only one filter is invalid.
func newOperators(t *testing.T) operators {
	w := newWorld(t, sqlite(t))
	logged := new(bytes.Buffer)
	w.nothing = slog.NewJSONHandler(logged, nil)
	o := operators{w, w.deliverer(), http.NewServeMux(), logged}
	o.d.Filter = func(query string) (feed.Filter, error) {
		if query == "maker=nobody" {
			return feed.Filter{}, errBadFilter
		}
		return feed.Filter{}, nil
	}
	o.d.Mount(o.mux, func(next http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			must.Do(t, r.ParseForm())
			next(w, r)
		})
	}, func(w http.ResponseWriter, _ *http.Request, command string, body any) {
		if command != "resend" {
			t.Errorf("the status page has no button for %s", command)
		}
		reply(w, body, nil)
	})
	return o
}

type badFilter string

func (b badFilter) Error() string { return string(b) }

const errBadFilter = badFilter("maker is not an address")

// ask requests a path, with a form if given, and returns the status and the members of the answer.
func (o operators) ask(path string, form ...string) (int, map[string]any) {
	o.t.Helper()
	r := httptest.NewRequestWithContext(o.t.Context(), http.MethodGet, path, http.NoBody)
	if len(form) > 0 {
		values := url.Values{}
		for _, each := range form {
			name, value, _ := strings.Cut(each, "=")
			values.Set(name, value)
		}
		r = httptest.NewRequestWithContext(o.t.Context(), http.MethodPost, path, strings.NewReader(values.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	recorder := httptest.NewRecorder()
	o.mux.ServeHTTP(recorder, r)
	if kind := recorder.Header().Get("Content-Type"); kind != "application/json; charset=utf-8" {
		o.t.Errorf("%s: %d of the type %q", path, recorder.Code, kind)
	}
	var body map[string]any
	must.Do(o.t, json.Unmarshal(recorder.Body.Bytes(), &body))
	return recorder.Code, body
}

// stored returns the valid secrets of a subscriber.
func (o operators) stored(name string) (secrets []string) {
	for _, h := range must.Get(o.d.Hooks(o.t.Context()))(o.t) {
		if h.Name == name {
			secrets = h.Secrets
		}
	}
	return secrets
}

func TestOperatorsKeepWebhooks(t *testing.T) {
	o := newOperators(t)
	const at = "https://example.com/hook?key=hidden"
	status, body := o.ask("/webhooks", "name=books", "url="+at, "filter=delivery=final")
	first, _ := body["secret"].(string)
	if status != http.StatusOK || body["webhook"] != "books" || CheckSecret(first) != nil || !slices.Equal(o.stored("books"), []string{first}) {
		t.Fatalf("added: %d %v", status, body)
	}
	status, body = o.ask("/webhooks", "name=books", "url="+at, "filter=")
	if status != http.StatusOK || body["secret"] != nil || !slices.Equal(o.stored("books"), []string{first}) {
		t.Errorf("changed: %d %v; the secret has to stay", status, body)
	}
	valid := []string{first}
	for range 2 { // the previous secret stays valid, the one before it does not
		status, body = o.ask("/webhooks/books/rotate", "")
		secret, _ := body["secret"].(string)
		valid = []string{secret, valid[0]}
		if status != http.StatusOK || CheckSecret(secret) != nil || !slices.Equal(o.stored("books"), valid) {
			t.Errorf("rotated: %d %v, stored %v", status, body, o.stored("books"))
		}
	}
	status, body = o.ask("/webhooks")
	text := string(must.Get(json.Marshal(body))(t))
	if status != http.StatusOK || !strings.Contains(text, `"Name":"books"`) || !strings.Contains(text, `"URL":"https://example.com"`) ||
		strings.Contains(text, "hidden") || strings.Contains(text, "whsec_") {
		t.Errorf("listed: %d %s", status, text)
	}
	if status, body = o.ask("/webhooks/books/remove", ""); status != http.StatusOK || o.stored("books") != nil {
		t.Errorf("removed: %d %v", status, body)
	}
	var commands []string
	for line := range strings.Lines(o.logged.String()) {
		var run struct{ Command, Webhook, By string }
		must.Do(t, json.Unmarshal([]byte(line), &run))
		commands = append(commands, strings.Join([]string{run.Command, run.Webhook, run.By}, " "))
	}
	by := " books " + httptest.NewRequest(http.MethodPost, "/", http.NoBody).RemoteAddr
	if want := []string{"add" + by, "add" + by, "rotate" + by, "rotate" + by, "remove" + by}; !slices.Equal(commands, want) {
		t.Errorf("logged %q, want %q", commands, want)
	}
	o.ask("/webhooks/shop/remove", "")
	if _, body = o.ask("/webhooks"); !reflect.DeepEqual(body["webhooks"], []any{}) {
		t.Errorf("without any: %v, want an empty list", body)
	}
}

// TestRotationsAtOnceLoseNoSecret rotates concurrently: the two valid secrets were both returned to an operator.
func TestRotationsAtOnceLoseNoSecret(t *testing.T) {
	o := newOperators(t)
	var mu sync.Mutex
	var rotating sync.WaitGroup
	answered := map[string]bool{}
	for range 8 {
		rotating.Go(func() {
			next, err := o.d.Rotate(t.Context(), "shop")
			mu.Lock()
			defer mu.Unlock()
			if answered[next] = true; err != nil {
				t.Error(err)
			}
		})
	}
	rotating.Wait()
	if valid := o.stored("shop"); len(valid) != 2 || valid[0] == valid[1] || !answered[valid[0]] || !answered[valid[1]] {
		t.Errorf("valid are %v, answered %v", valid, answered)
	}
}

func TestOperatorsSendDeadLettersAgain(t *testing.T) {
	o := newOperators(t)
	if status, body := o.ask("/webhooks/shop/resend", ""); status != http.StatusOK {
		t.Errorf("nothing to resend: %d %v", status, body)
	}
	o.answer = func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusTeapot) }
	o.tell(1, 1, false, created(1))
	for range 2 + len(schedule) {
		must.Get(o.d.Pass(t.Context(), store.Lease{}, "shop"))(t)
		o.now = o.now.Add(longestWait)
	}
	status, body := o.ask("/webhooks/shop/dead")
	dead, _ := body["dead"].([]any)
	if status != http.StatusOK || len(dead) != 1 {
		t.Fatalf("dead: %d %v", status, body)
	}
	letter, _ := dead[0].(map[string]any)
	inside, _ := letter["Body"].(map[string]any)
	if letter["Error"] != "HTTP 418" || letter["Attempts"] != float64(1+len(schedule)) || inside["type"] != "order.happened" {
		t.Errorf("the letter is %v", letter)
	}
	rows := make([][]any, 2*mostWaiting)
	for i := range rows {
		rows[i] = []any{i + 1, make([]byte, 32)}
	}
	must.Do(t, o.db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.ExecEach(t.Context(), `INSERT INTO deliveries (webhook, position, order_id, body, attempts, due, dead, error)
			VALUES ('many', $1, $2, '{}', 0, 0, 0, '')`, rows)
	}))
	if all, err := o.d.waiting(t.Context(), "many"); err != nil || len(all) != mostWaiting+atOnce {
		t.Errorf("%d of many are read for a pass, %v", len(all), err)
	}
	o.answer = nil
	if status, body = o.ask("/webhooks/shop/resend", ""); status != http.StatusOK || body["webhook"] != "shop" {
		t.Errorf("resent: %d %v", status, body)
	}
	o.pass(o.d)
	if _, body = o.ask("/webhooks/shop/dead"); len(o.heard) != 1 || len(body["dead"].([]any)) != 0 {
		t.Errorf("heard %d messages, then dead are %v", len(o.heard), body)
	}
}

func TestBadInputOfOperators(t *testing.T) {
	o := newOperators(t)
	must.Do(t, o.d.Configure(t.Context(), []Hook{{Name: "file", URL: "https://example.com", Secrets: []string{secret}}}))
	const name, public = "name=books", "url=https://example.com/hook"
	for _, each := range []struct {
		path   string
		form   []string
		status int
		says   string
	}{
		{"/webhooks", []string{public}, http.StatusBadRequest, "name"},
		{"/webhooks", []string{"name=..", public}, http.StatusBadRequest, "name"},
		{"/webhooks", []string{"name=" + strings.Repeat("x", 65), public}, http.StatusBadRequest, "name"},
		{"/webhooks", []string{name}, http.StatusBadRequest, "want a URL"},
		{"/webhooks", []string{name, "url=http://example.com/hook"}, http.StatusBadRequest, "https"},
		{"/webhooks", []string{name, "url=https://10.0.0.1/hook"}, http.StatusBadRequest, "public host"},
		{"/webhooks", []string{name, public, "filter=maker=nobody"}, http.StatusBadRequest, string(errBadFilter)},
		{"/webhooks", []string{"name=file", public}, http.StatusConflict, ErrTaken.Error()},
		{"/webhooks/file/rotate", []string{""}, http.StatusConflict, ErrTaken.Error()},
		{"/webhooks/file/remove", []string{""}, http.StatusConflict, ErrTaken.Error()},
		{"/webhooks/none/rotate", []string{""}, http.StatusNotFound, ErrUnknown.Error()},
		{"/webhooks/none/resend", []string{""}, http.StatusNotFound, ErrUnknown.Error()},
		{"/webhooks/none/remove", []string{""}, http.StatusNotFound, ErrUnknown.Error()},
		{"/webhooks/none/dead", nil, http.StatusNotFound, ErrUnknown.Error()},
	} {
		status, body := o.ask(each.path, each.form...)
		if said, _ := body["error"].(string); status != each.status || !strings.Contains(said, each.says) {
			t.Errorf("%s %q = %d %v, want %d with %q", each.path, each.form, status, body, each.status, each.says)
		}
	}
	if o.stored("books") != nil {
		t.Error("one of them was added")
	}
	must.Do(t, o.db.Close())
	if status, body := o.ask("/webhooks"); status != http.StatusServiceUnavailable {
		t.Errorf("without a database: %d %v", status, body)
	}
}
