package pages

import (
	"html/template"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/reference"
	"crossgate/proxy/web"
)

func (s *Pages) referencePage(c *gin.Context) {
	newest := s.newest(c.Request.Context(), orders.Part{Take: mostNewest, Mode: orders.CrossChain})
	shown := Docs{Reference: proxy.Reference(), Origin: OriginOf(c.Request), Newest: newest}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Docs(to, shown) })
}

// Docs is the content of the API reference.
type Docs struct {
	reference.Reference
	Origin string         // by which the visitor reached the server
	Newest *orders.Listed // orders for the examples; nil if unavailable at the moment
}

type docsView struct {
	Docs
	Questions []commonQuestion
}

// commonQuestion is one that most readers have, with a request that answers it.
type commonQuestion struct {
	Text, ID      string // ID is the operation's
	Command, Link string
}

// questions returns the common questions, about indexed orders or else about the document's examples.
func (p *Views) questions(d Docs) []commonQuestion {
	all := []commonQuestion{
		{Text: "How far is my order?", ID: "orderByCreation"},
		{Text: "What is locked for a taker?", ID: "lockedAssets"},
		{Text: "What is the best swap, and its transaction?", ID: "swap"},
	}
	for i := range all {
		o := d.Operation(all[i].ID)
		all[i].Link = o.Example().Target
	}
	if d.Newest != nil {
		for _, listed := range slices.Backward(d.Newest.Records) { // so that the newest is applied last
			if o := listed.Order.Order; o.Created != nil {
				all[0].Link = "/api/Orders/creationTxHash/" + o.Created.At.Tx.String()
				if o.Fulfilled != nil {
					all[1].Link = "/api/Satistics/" + o.Fulfilled.Fact.Taker.Format(p.Chains.Family(o.Terms.Take.Chain)) + "/lockedAssets"
				}
			}
		}
	}
	for i := range all {
		all[i].Command = commandOf(d.Origin, reference.Request{Target: all[i].Link})
	}
	return all
}

type shownOperation struct {
	reference.Operation
	Command string // shell command that sends the example
	Link    string // the example as a link; empty unless it is a GET
}

// Docs writes the API reference.
func (p *Views) Docs(to io.Writer, d Docs) error {
	return p.Write(to, "docs", web.View{Title: "API reference", At: "docs", Says: d.Info.Summary, Root: d.Origin, Page: docsView{d, p.questions(d)}})
}

// Shown returns an operation as the page shows it.
func (d Docs) Shown(o reference.Operation) shownOperation {
	example := o.Example()
	shown := shownOperation{Operation: o, Command: commandOf(d.Origin, example)}
	if example.Method == http.MethodGet {
		shown.Link = example.Target
	}
	return shown
}

func commandOf(origin string, r reference.Request) string {
	command := "curl " + quoted(origin+r.Target)
	if r.Body != "" {
		command += " \\\n  -H " + quoted("Content-Type: "+r.Type) + " \\\n  -d " + quoted(r.Body)
	}
	return command
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

var (
	codeMark   = regexp.MustCompile("`([^`]+)`")
	strongMark = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	paragraphs = regexp.MustCompile(`\n\s*\n`)
)

// marked renders a text of the API's document as HTML. Its only markup is paragraphs, `code` and **strong** words.
func marked(text string) template.HTML {
	var html strings.Builder
	for _, paragraph := range paragraphs.Split(strings.TrimSpace(text), -1) {
		if paragraph != "" {
			html.WriteString("<p>" + string(markedWords(paragraph)) + "</p>\n")
		}
	}
	return template.HTML(html.String()) // escaped by markedWords
}

// markedWords is marked for a text without paragraphs.
func markedWords(text string) template.HTML {
	html := template.HTMLEscapeString(text)
	html = codeMark.ReplaceAllString(html, "<code>$1</code>")
	return template.HTML(strongMark.ReplaceAllString(html, "<strong>$1</strong>")) // escaped above
}

func idOf(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
