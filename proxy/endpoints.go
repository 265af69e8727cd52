package proxy

import (
	"net/http"

	"crossgate/upstream"
)

// mountEndpoints adds what operators may do about one endpoint: {of} is the chain by its id, the venue or the price
// service that it serves. What they do ends with the process.
func (s *Server) mountEndpoints(mux *http.ServeMux) {
	for command, carryOut := range map[string]func(*upstream.Endpoint){
		"cordon":         (*upstream.Endpoint).Cordon,
		"uncordon":       (*upstream.Endpoint).Uncordon,
		"breaker/open":   func(e *upstream.Endpoint) { e.ForceBreaker(upstream.ForceOpen) },
		"breaker/closed": func(e *upstream.Endpoint) { e.ForceBreaker(upstream.ForceClosed) },
		"breaker/auto":   func(e *upstream.Endpoint) { e.ForceBreaker(upstream.Unforced) },
	} {
		mux.Handle("POST /endpoints/{of}/{name}/"+command, s.guarded(func(w http.ResponseWriter, r *http.Request) {
			of, name := r.PathValue("of"), r.PathValue("name")
			var e *upstream.Endpoint
			if s.options.Endpoint != nil {
				e = s.options.Endpoint(of, name)
			}
			if e == nil {
				writeJSON(w, http.StatusNotFound, map[string]string{"error": "no such endpoint: /readyz lists them"})
				return
			}
			carryOut(e)
			standing := e.Health().Standing
			s.log.WarnContext(r.Context(), "an operator commands an endpoint", "endpoint", of+"/"+name, "command", command, "standing", standing)
			writeJSON(w, http.StatusOK, map[string]string{"endpoint": of + "/" + name, "standing": standing})
		}))
	}
}
