package pages

import (
	"html/template"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"crossgate/proxy"
	"crossgate/proxy/reference"
	"crossgate/proxy/web"
)

// apiReference is what openapi.yaml says.
var apiReference = sync.OnceValue(func() reference.Reference {
	read, err := reference.Read(proxy.OpenAPI)
	if err != nil {
		panic("proxy: " + err.Error())
	}
	return read
})

// referencePage shows the API.
func (s *Pages) referencePage(c *gin.Context) {
	shown := Docs{Reference: apiReference(), Origin: OriginOf(c.Request)}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Docs(to, shown) })
}

// Docs is the content of the reference of the API.
type Docs struct {
	reference.Reference
	Origin string // by which the visitor reached the server
}

// shownOperation is an operation with an example of a request.
type shownOperation struct {
	reference.Operation
	Command string // that sends the example
	Link    string // the example as a link; empty: it is not a GET
}

// Docs writes the reference of the API.
func (p *Views) Docs(to io.Writer, d Docs) error {
	return p.Write(to, "docs", web.View{Title: "API reference", At: "docs", Says: d.Info.Summary, Root: d.Origin, Page: d})
}

// Shown is an operation as the page shows it.
func (d Docs) Shown(o reference.Operation) shownOperation {
	example := o.Example()
	shown := shownOperation{Operation: o, Command: commandOf(d.Origin, example)}
	if example.Method == http.MethodGet {
		shown.Link = example.Target
	}
	return shown
}

// commandOf is a command for a shell that sends a request.
func commandOf(origin string, r reference.Request) string {
	command := "curl " + quoted(origin+r.Target)
	if r.Body != "" {
		command += " \\\n  -H " + quoted("Content-Type: "+r.Type) + " \\\n  -d " + quoted(r.Body)
	}
	return command
}

// quoted is a text that a shell takes as it is.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

var (
	codeMark   = regexp.MustCompile("`([^`]+)`")
	strongMark = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	paragraphs = regexp.MustCompile(`\n\s*\n`)
)

// marked is a text of the API's document as HTML: paragraphs, `code` and **strong** words, which is all that it has.
func marked(text string) template.HTML {
	var html strings.Builder
	for _, paragraph := range paragraphs.Split(strings.TrimSpace(text), -1) {
		if paragraph != "" {
			html.WriteString("<p>" + string(markedWords(paragraph)) + "</p>\n")
		}
	}
	return template.HTML(html.String()) // which markedWords has escaped
}

// markedWords is the same of a text without paragraphs.
func markedWords(text string) template.HTML {
	html := template.HTMLEscapeString(text)
	html = codeMark.ReplaceAllString(html, "<code>$1</code>")
	return template.HTML(strongMark.ReplaceAllString(html, "<strong>$1</strong>")) // escaped above
}

// idOf is a name as the id of an element.
func idOf(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
