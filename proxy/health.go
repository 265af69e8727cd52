package proxy

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
)

var errDraining = errors.New("server is shutting down")

// Ready returns why load balancers should send requests elsewhere, or nil if this replica accepts them.
func (s *Server) Ready() error {
	if s.draining.Load() {
		return errDraining
	}
	if s.Options.Unready == nil {
		return nil
	}
	return s.Options.Unready()
}

// mountHealth adds /healthz (liveness) and /readyz (readiness), which are neither traced nor logged.
func (s *Server) mountHealth(engine *gin.Engine) {
	alive := func() error { return nil }
	for path, state := range map[string]func() error{"/healthz": alive, "/readyz": s.Ready} {
		probe := func(c *gin.Context) {
			status, body := http.StatusOK, `{"status":"ok"}`
			if err := state(); err != nil {
				status, body = http.StatusServiceUnavailable, `{"reason":"`+err.Error()+`","status":"unavailable"}`
			}
			c.Writer.Header()["Cache-Control"] = noStore
			c.Data(status, jsonType[0], []byte(body+"\n"))
		}
		engine.GET(path, probe)
		engine.HEAD(path, probe)
	}
}
