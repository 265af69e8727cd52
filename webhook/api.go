package webhook

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
)

// Mount adds the operators' API to a mux. Commands are behind guard, which parses their forms.
//
//	GET  /webhooks                   all subscribers, with the number of waiting deliveries
//	GET  /webhooks/{name}/dead       the oldest dead deliveries
//	POST /webhooks                   add or change a subscriber (name, url, filter); returns a new secret once
//	POST /webhooks/{name}/rotate     set a new secret; the previous one stays valid until the next rotation
//	POST /webhooks/{name}/resend     retry all dead and waiting deliveries now
//	POST /webhooks/{name}/remove
//
// done answers a command that has a button on the status page.
func (d *Deliverer) Mount(
	mux *http.ServeMux, guard func(http.HandlerFunc) http.Handler, done func(w http.ResponseWriter, r *http.Request, command string, body any),
) {
	mux.HandleFunc("GET /webhooks", func(w http.ResponseWriter, r *http.Request) {
		hooks, err := d.Hooks(r.Context())
		for _, h := range hooks {
			h.URL = h.Origin()
		}
		reply(w, map[string]any{"webhooks": append([]*Hook{}, hooks...)}, err)
	})
	mux.HandleFunc("GET /webhooks/{name}/dead", func(w http.ResponseWriter, r *http.Request) {
		dead, err := d.Dead(r.Context(), r.PathValue("name"))
		reply(w, map[string]any{"dead": dead}, err)
	})
	command := func(command, path string, run func(r *http.Request, name string) (any, error)) {
		mux.Handle("POST "+path, guard(func(w http.ResponseWriter, r *http.Request) {
			name := cmp.Or(r.PathValue("name"), r.Form.Get("name"))
			body, err := run(r, name)
			if err == nil {
				d.Logger.InfoContext(r.Context(), "operator command run on webhook", "webhook", name, "command", command, "by", r.RemoteAddr)
			}
			if err == nil && command == "resend" {
				done(w, r, command, body)
				return
			}
			reply(w, body, err)
		}))
	}
	command("add", "/webhooks", d.add)
	command("rotate", "/webhooks/{name}/rotate", func(r *http.Request, name string) (any, error) {
		secret, err := d.Rotate(r.Context(), name)
		return map[string]string{"secret": secret}, err
	})
	command("resend", "/webhooks/{name}/resend", func(r *http.Request, name string) (any, error) {
		return map[string]string{"webhook": name}, d.Resend(r.Context(), name)
	})
	command("remove", "/webhooks/{name}/remove", func(r *http.Request, name string) (any, error) {
		return map[string]string{"webhook": name}, d.Remove(r.Context(), name)
	})
}

var names = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// badInput is a mistake in an operator's input.
type badInput struct{ error }

func (d *Deliverer) add(r *http.Request, name string) (any, error) {
	h := Hook{Name: name, URL: r.Form.Get("url"), Filter: r.Form.Get("filter"), Secrets: []string{NewSecret()}}
	_, err := d.Filter(h.Filter)
	if err == nil {
		err = CheckURL(h.URL)
	}
	if err == nil && !names.MatchString(h.Name) {
		err = errors.New("want a name of up to 64 letters, digits and dashes")
	}
	if err != nil {
		return nil, badInput{err}
	}
	body := map[string]string{"webhook": h.Name}
	if err = d.Put(r.Context(), h); err == nil {
		var stored *Hook
		if stored, err = hook(r.Context(), d.db, h.Name); err == nil && stored.Secrets[0] == h.Secrets[0] {
			body["secret"] = h.Secrets[0]
		}
	}
	return body, err
}

func reply(w http.ResponseWriter, body any, err error) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, isBad := errors.AsType[badInput](err)
	switch {
	case isBad:
		w.WriteHeader(http.StatusBadRequest)
	case errors.Is(err, ErrUnknown):
		w.WriteHeader(http.StatusNotFound)
	case errors.Is(err, ErrTaken):
		w.WriteHeader(http.StatusConflict)
	case err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err != nil {
		body = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(body) // fails only when the client has left
}
