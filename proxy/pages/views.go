package pages

import (
	"embed"
	"html/template"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// Views writes the pages of the API.
type Views struct{ *web.Pages }

// NewViews parses their templates.
func NewViews(chains chain.Registry) *Views {
	p := web.New(chains)
	own := template.FuncMap{"table": tableOf, "chosenOf": chosenOf, "marked": marked, "words": markedWords}
	p.Add(views, own, "home", "order", "swap", "swap_record", "locked", "search", "list", "awaited", "statistics", "docs")
	return &Views{p}
}

//go:embed templates/*.html
var views embed.FS
