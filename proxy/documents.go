package proxy

import (
	_ "embed"
	"strconv"

	"github.com/gin-gonic/gin"
)

// openAPI describes every path of the API.
//
//go:embed openapi.yaml
var openAPI []byte

// mountDocuments adds the OpenAPI document and the page that shows it.
func (s *Server) mountDocuments(to *router) {
	to.mountPage("/docs", listCost, s.referencePage)
	to.mountPage("/docs/", listCost, s.referencePage)
	to.engine.GET("/openapi.yaml", func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("Content-Type", "application/yaml; charset=utf-8")
		header.Set("Cache-Control", "no-cache")
		header.Set("Content-Length", strconv.Itoa(len(openAPI)))
		_, _ = c.Writer.Write(openAPI)
	})
}
