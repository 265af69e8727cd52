package proxy

import (
	_ "embed"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// openAPI describes every path of the API.
//
//go:embed openapi.yaml
var openAPI []byte

// mountDocuments adds the OpenAPI document and the page that shows it.
func (s *Server) mountDocuments(engine *gin.Engine) {
	for _, path := range []string{"/docs", "/docs/"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			engine.Handle(method, path, s.referencePage)
		}
		s.costs[path] = pathCost{listCost, tracking}
	}
	engine.GET("/openapi.yaml", func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("Content-Type", "application/yaml; charset=utf-8")
		header.Set("Cache-Control", "no-cache")
		header.Set("Content-Length", strconv.Itoa(len(openAPI)))
		_, _ = c.Writer.Write(openAPI)
	})
}
