package admin

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
