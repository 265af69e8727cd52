package proxy

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
)

var errDraining = errors.New("the server is stopping")

// mountHealth adds what orchestrators ask: /healthz whether the process lives, /readyz whether it wants
// requests. Neither is traced or logged.
func (s *Server) mountHealth(engine *gin.Engine) {
	health := func(state func() error) gin.HandlerFunc {
		return func(c *gin.Context) { writeHealth(c, state()) }
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

func writeHealth(c *gin.Context, err error) {
	status, answer := http.StatusOK, map[string]string{"status": "ok"}
	if err != nil {
		status, answer = http.StatusServiceUnavailable, map[string]string{"status": "unavailable", "reason": err.Error()}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		_ = c.Error(err)
	}
	header := c.Writer.Header()
	header["Content-Type"], header["Cache-Control"] = jsonType, noStore
	c.Status(status)
	_, _ = c.Writer.Write(body)
}
