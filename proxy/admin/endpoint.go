package admin

import (
	"net/http"

	"crossgate/upstream"
)

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
