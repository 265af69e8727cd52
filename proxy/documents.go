package proxy

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/proxy/reference"
)

// OpenAPI describes every path of the API.
//
//go:embed openapi.yaml
var OpenAPI []byte

// llms points language models to the paths (https://llmstxt.org).
//
//go:embed llms.txt
var llms []byte

// Reference returns the parsed OpenAPI.
var Reference = sync.OnceValue(func() reference.Reference {
	read, err := reference.Read(OpenAPI)
	if err != nil {
		panic("proxy: " + err.Error())
	}
	return read
})

var openAPIJSON = sync.OnceValue(func() []byte {
	text, err := reference.JSON(OpenAPI)
	if err != nil {
		panic("proxy: " + err.Error())
	}
	return text
})

func (s *Server) mountDocuments() {
	s.MountPage("/openapi.yaml", CheapCost, func(c *gin.Context) { SendDocument(c, "application/yaml; charset=utf-8", OpenAPI) })
	s.MountPage("/openapi.json", CheapCost, func(c *gin.Context) { SendDocument(c, jsonType[0], openAPIJSON()) })
	s.MountPage("/llms.txt", CheapCost, func(c *gin.Context) { SendDocument(c, "text/plain; charset=utf-8", llms) })
}

// SendDocument sends a document that changes only with the program. Browsers ask again whether it has changed.
func SendDocument(c *gin.Context, kind string, text []byte) {
	digest, header := sha256.Sum256(text), c.Writer.Header()
	header.Set("Content-Type", kind)
	header.Set("Cache-Control", "no-cache")
	header.Set("Etag", etagOf(digest))
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(text))
}
