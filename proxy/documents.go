package proxy

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	swagger "github.com/swaggest/swgui/v5/static"
)

// openAPI describes every path of the API.
//
//go:embed openapi.yaml
var openAPI []byte

// mountDocuments adds the OpenAPI document and Swagger UI.
func (s *Server) mountDocuments(engine *gin.Engine) {
	page := func(c *gin.Context) { s.writePage(c, http.StatusOK, s.pages.Docs) }
	engine.GET("/docs", page)
	engine.GET("/docs/*file", func(c *gin.Context) {
		if c.Param("file") == "/" {
			page(c)
			return
		}
		s.serveSwagger(c, strings.TrimPrefix(c.Param("file"), "/"))
	})
	engine.GET("/openapi.yaml", func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("Content-Type", "application/yaml; charset=utf-8")
		header.Set("Cache-Control", "no-cache")
		header.Set("Content-Length", strconv.Itoa(len(openAPI)))
		_, _ = c.Writer.Write(openAPI)
	})
}

// serveSwagger sends a file of Swagger UI; they are embedded compressed.
func (s *Server) serveSwagger(c *gin.Context, name string) {
	kind, wanted := map[string]string{".css": "text/css", ".js": "text/javascript"}[path.Ext(name)]
	packed, err := swagger.FS.ReadFile(name + ".gz")
	if err != nil || !wanted {
		s.notFound(c)
		return
	}
	header := c.Writer.Header()
	header.Set("Content-Type", kind+"; charset=utf-8")
	header.Set("Cache-Control", "public, max-age=3600")
	header.Add("Vary", "Accept-Encoding")
	if strings.Contains(c.GetHeader("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		_, _ = c.Writer.Write(packed)
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		s.fail(c, tracking, internalError.from(err))
		return
	}
	_, _ = io.Copy(c.Writer, unpacked)
}
