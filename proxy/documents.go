package proxy

import (
	_ "embed"
	"strconv"
	"sync"

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

var openAPIJSON = sync.OnceValue(func() []byte {
	text, err := reference.JSON(OpenAPI)
	if err != nil {
		panic("proxy: " + err.Error())
	}
	return text
})

func sendDocument(c *gin.Context, kind string, text []byte) {
	header := c.Writer.Header()
	header.Set("Content-Type", kind)
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = c.Writer.Write(text)
}
