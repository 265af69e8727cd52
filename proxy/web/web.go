// Package web is the pages that people look at: an order on its way, the comparison of a swap, what is locked for a
// taker, made of the answers that programs get; and for operators how the gateway does. They work without scripts, and
// load nothing from elsewhere but the logos of tokens.
package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
)

// Policy is the Content-Security-Policy of every page: nothing runs or styles but what is served beside it.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https: http:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Send sends a rendered page with the headers of all pages.
func Send(w http.ResponseWriter, status int, page []byte) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", Policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(page)))
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(page) // fails only when the client has left
}

//go:embed templates/*.html
var sources embed.FS

//go:embed assets
var assets embed.FS

// Assets are the style sheet and the scripts of the pages.
func Assets() fs.FS {
	below, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("web: embedded assets: " + err.Error())
	}
	return below
}

// Pages writes pages about the chains of a registry.
type Pages struct {
	chains    chain.Registry
	templates map[string]*template.Template
}

// New reads the templates.
func New(chains chain.Registry) *Pages {
	p := &Pages{chains: chains, templates: map[string]*template.Template{}}
	shared := template.Must(template.New("").Funcs(template.FuncMap{
		"ago": ago, "utc": utc, "machine": machineTime, "short": short, "plural": plural,
	}).ParseFS(sources, "templates/shared.html"))
	for _, name := range []string{"home", "order", "swap", "locked", "problem", "docs", "operators"} {
		own := template.Must(shared.Clone())
		p.templates[name] = template.Must(own.ParseFS(sources, "templates/"+name+".html"))
	}
	return p
}

// view is what every template gets.
type view struct {
	Title string
	At    string // which of the pages in the menu this is
	Now   time.Time
	Page  any
}

// write renders a whole page before the first byte of it leaves.
func (p *Pages) write(to io.Writer, name string, v view) error {
	var page bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&page, "page", v); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	_, err := page.WriteTo(to)
	return err
}

// chainName is what people call a chain.
func (p *Pages) chainName(id chain.ID) string {
	if known, isKnown := p.chains.Chain(id); isKnown {
		return known.Name
	}
	return "chain " + id.String()
}

// txURL is where a chain's explorer shows a transaction; empty when the explorer is not known. EVM explorers have
// the paths of EIP-3091, and Solana's the same; TRON's name them in full.
func (p *Pages) txURL(id chain.ID, hash string) string {
	return p.explorerURL(id, "tx", "transaction", hash)
}

// addressURL is where the explorer shows an account or a token; empty for the native coin, which is nowhere.
func (p *Pages) addressURL(id chain.ID, text string) string {
	known, _ := p.chains.Chain(id)
	if address, err := chain.ParseAddress(text, known.Family); err != nil || address.IsNative() {
		return ""
	}
	return p.explorerURL(id, "address", "address", text)
}

func (p *Pages) explorerURL(id chain.ID, what, onTron, name string) string {
	known, _ := p.chains.Chain(id)
	if known.Explorer == "" || name == "" {
		return ""
	}
	if known.Family == chain.TVM {
		what = onTron
	}
	return strings.TrimRight(known.Explorer, "/") + "/" + what + "/" + name
}

// Problem is why there is no page.
type Problem struct {
	Status  int
	ID      string // for programs
	Message string // for people
	Request string // id in the log
}

// Problem writes the page of a request that has no other.
func (p *Pages) Problem(to io.Writer, problem Problem) error {
	return p.write(to, "problem", view{Title: "No answer", Page: problem})
}

// Docs writes the frame of the interactive API document.
func (p *Pages) Docs(to io.Writer) error { return p.write(to, "docs", view{Title: "API", At: "docs"}) }
