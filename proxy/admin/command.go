package admin

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/web"
	"crossgate/upstream"
)

// longestForm limits the body of a command, in bytes.
const longestForm = 64 << 10

var commandsDone = map[string]string{
	"token":    "The token is right",
	"purge":    "Purged",
	"cordon":   "The endpoint is cordoned",
	"uncordon": "The endpoint is back in use",
	"resend":   "Dead letters are delivered again",
}

// guarded passes on requests that carry the operators' token and do not come from a page of another origin in an
// operator's browser. Without a configured token it rejects all of them.
func (a *admin) guarded(next http.HandlerFunc) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, longestForm)
		if err := r.ParseForm(); err != nil {
			a.refuse(w, r, http.StatusBadRequest, "the form cannot be read")
			return
		}
		if !a.isOperator(r) {
			message := "missing or wrong token; send telemetry.token as a bearer token"
			if a.Token == "" {
				message = "commands require a token, and none is configured; set telemetry.token"
			}
			a.refuse(w, r, http.StatusUnauthorized, message)
			return
		}
		next(w, r)
	}))
}

// isOperator reports whether a request has the token in its header or body; in a URL it would end up in logs.
func (a *admin) isOperator(r *http.Request) bool {
	given, isHeader := bearer(r)
	if !isHeader {
		given = r.PostForm.Get("token")
	}
	return a.isToken(given)
}

func bearer(r *http.Request) (token string, is bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.Trim(token, " "), strings.EqualFold(scheme, "Bearer")
}

func (a *admin) isToken(given string) bool {
	return a.Token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(a.Token)) == 1
}

// isFromPage reports whether a browser has sent a form of the status page.
func isFromPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// succeed answers a successful command: programs with body, browsers with a redirect to the status page.
func succeed(w http.ResponseWriter, r *http.Request, command string, body any) {
	if isFromPage(r) {
		http.Redirect(w, r, "/?done="+url.QueryEscape(command)+"#commands", http.StatusSeeOther)
		return
	}
	writeJSON(w, http.StatusOK, body)
}

func (a *admin) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	if isFromPage(r) {
		a.statusPage(w, r, status, web.Notice{Text: "Not done: " + message, IsBad: true})
		return
	}
	writeJSON(w, status, map[string]string{"error": message})
}

// given returns the non-empty values of a field. Blank form fields are sent as empty.
func given(form url.Values, field string) []string {
	return slices.DeleteFunc(form[field], func(each string) bool { return each == "" })
}

// endpointCommands are the operators' commands to an endpoint, by the last segment of their path.
var endpointCommands = map[string]func(*upstream.Endpoint){
	"cordon":   (*upstream.Endpoint).Cordon,
	"uncordon": (*upstream.Endpoint).Uncordon,
}

func (a *admin) commandEndpoint(command string, run func(*upstream.Endpoint)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("of") + "/" + r.PathValue("name")
		e := a.Gateway.Endpoint(r.PathValue("of"), r.PathValue("name"))
		if e == nil {
			a.refuse(w, r, http.StatusNotFound, "no such endpoint; GET /readyz lists them")
			return
		}
		run(e)
		standing := e.Health().Standing
		a.Logger.WarnContext(r.Context(), "operator command run on endpoint",
			"endpoint", name, "command", command, "standing", standing, "by", r.RemoteAddr)
		succeed(w, r, command, map[string]string{"endpoint": name, "standing": standing})
	}
}

// purge purges cached answers about orders and chains, and stored responses of hosts, all or at given paths. After a
// soft purge they are served stale until loaded again; after a hard one they are not served at all.
func (a *admin) purge(w http.ResponseWriter, r *http.Request) {
	form := r.Form // of the query and the body
	how, known := map[string]cache.Purge{"": cache.Soft, "soft": cache.Soft, "hard": cache.Hard}[form.Get("how")]
	if !known {
		a.refuse(w, r, http.StatusBadRequest, "how must be soft or hard")
		return
	}
	var orders []order.ID
	for _, text := range given(form, "order") {
		id, err := chain.ParseHash(text)
		if err != nil {
			a.refuse(w, r, http.StatusBadRequest, "order must be 0x followed by 64 hex digits")
			return
		}
		orders = append(orders, id)
	}
	var chains []chain.ID
	for _, text := range given(form, "chain") {
		id, err := chain.ParseID(text)
		if _, known := a.Pages.Chains.Chain(id); err != nil || !known {
			a.refuse(w, r, http.StatusBadRequest, "chain must be the id of a documented or configured chain")
			return
		}
		chains = append(chains, id)
	}
	hosts, paths := given(form, "host"), given(form, "path")
	switch {
	case len(hosts) == 0 && len(paths) > 0:
		a.refuse(w, r, http.StatusBadRequest, "a path is purged of a host: give its name as well")
		return
	case len(orders)+len(chains)+len(hosts) == 0:
		a.refuse(w, r, http.StatusBadRequest, "nothing to purge; give at least one order, chain or host")
		return
	case len(hosts) > 0:
		if err := a.Server.PurgeHosts(how, hosts, paths); err != nil {
			a.refuse(w, r, http.StatusBadRequest, err.Error())
			return
		}
	}
	if len(orders)+len(chains) > 0 {
		a.Server.Purge(how, orders, chains)
	}
	a.Logger.InfoContext(r.Context(), "operator purged cached answers", "hard", how == cache.Hard, "orders", len(orders), "chains", len(chains),
		"hosts", hosts, "paths", len(paths), "by", r.RemoteAddr)
	succeed(w, r, "purge", map[string]int{"purged": len(orders) + len(chains) + len(hosts)*max(len(paths), 1)})
}
