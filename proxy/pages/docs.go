package pages

import (
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"crossgate/proxy/reference"
	"crossgate/proxy/web"
)

// Docs is the content of the reference of the API.
type Docs struct {
	reference.Reference
	Origin string           // by which the visitor reached the server
	Values reference.Values // that examples ask for
}

type docsView struct {
	Docs
	Groups []groupView
}

type groupView struct {
	reference.Group
	ID         string
	Operations []operationView
}

type operationView struct {
	reference.Operation
	Command  string // that sends the example
	Link     string // the example as a link; empty: it is no GET, or of something that is not known to be there
	Answers  []reference.Reply
	Problems []reference.Reply
}

// Docs writes the reference of the API.
func (p *Views) Docs(to io.Writer, d Docs) error {
	v := docsView{Docs: d}
	for _, g := range d.Reference.Groups {
		shown := groupView{Group: g, ID: strings.ReplaceAll(strings.ToLower(g.Name), " ", "-")}
		for _, o := range g.Operations {
			shown.Operations = append(shown.Operations, operationOf(o, d))
		}
		v.Groups = append(v.Groups, shown)
	}
	return p.Write(to, "docs", web.View{Title: "API reference", At: "docs", Says: d.Summary, Root: d.Origin, Page: v})
}

func operationOf(o reference.Operation, d Docs) operationView {
	example := o.Example(d.Values)
	v := operationView{Operation: o, Command: commandOf(d.Origin, example)}
	if example.Method == "GET" && example.IsKnown {
		v.Link = example.Target
	}
	isProblem := func(a reference.Reply) bool { return len(a.Errors) > 0 }
	v.Problems = slices.DeleteFunc(slices.Clone(o.Answers), func(a reference.Reply) bool { return !isProblem(a) })
	v.Answers = slices.DeleteFunc(slices.Clone(o.Answers), isProblem)
	return v
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
