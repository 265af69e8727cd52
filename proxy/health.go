package proxy

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
)

var errDraining = errors.New("the server is stopping")

// mountHealth adds what orchestrators ask: /healthz whether the process lives, /readyz whether it wants
// requests. Neither is traced or logged.
func (s *Server) mountHealth(engine *gin.Engine) {
	health := func(state func() error) gin.HandlerFunc {
		return func(c *gin.Context) { writeHealth(c.Writer, state()) }
	}
	for path, state := range map[string]func() error{"/healthz": alive, "/readyz": s.ready} {
		engine.GET(path, health(state))
		engine.HEAD(path, health(state))
	}
}

func alive() error { return nil }

func (s *Server) ready() error {
	if s.draining.Load() {
		return errDraining
	}
	if s.options.Ready != nil {
		return s.options.Ready()
	}
	return nil
}

func writeHealth(w http.ResponseWriter, err error) {
	if err != nil {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "unavailable", "reason": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}
