// Package web contains the frame of all HTML pages and their assets, the problem page, and the operators' status page.
//
// Templates are parsed once and escape all data; Policy forbids inline scripts and styles, and everything from other
// hosts. Pages work without scripts. If a page updates itself, elements with data-part are replaced by those of a fresh
// page. Every page is rendered completely before its first byte is sent. Pages is safe for concurrent use.
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
	"sync"
	"time"

	"crossgate/chain"
)

// Policy is the Content-Security-Policy of every page: only its own assets may run or style it.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Send sends a rendered page with the headers common to all pages.
func Send(w http.ResponseWriter, status int, page []byte) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", Policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(page)))
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(page) // fails only if the client has left
}

//go:embed templates/*.html
var sources embed.FS

//go:embed assets
var assets embed.FS

// Assets returns the style sheet and the scripts of the pages.
func Assets() fs.FS {
	below, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("web: embedded assets: " + err.Error())
	}
	return below
}

// Pages renders pages about the chains of a registry.
type Pages struct {
	Chains    chain.Registry
	shared    *template.Template // definitions shared by all templates
	templates map[string]func() *template.Template
}

// New returns Pages with the templates of this package.
func New(chains chain.Registry) *Pages {
	p := &Pages{Chains: chains, templates: map[string]func() *template.Template{}}
	p.shared = template.Must(template.New("").Funcs(functions).Funcs(template.FuncMap{"chain": p.ChainName}).ParseFS(sources, "templates/shared.html"))
	p.Add(sources, nil, "problem", "operators")
	return p
}

// Add registers templates, files/templates/NAME.html, with functions of their own. Each is parsed when its page is
// first rendered: that speeds up startup, and few gateways are asked for every page.
func (p *Pages) Add(files fs.FS, own template.FuncMap, names ...string) {
	for _, name := range names {
		p.templates[name] = sync.OnceValue(func() *template.Template {
			return template.Must(template.Must(p.shared.Clone()).Funcs(own).ParseFS(files, "templates/"+name+".html"))
		})
	}
}

// View is the data of every template.
type View struct {
	Title string
	At    string // the current page in the menu
	Says  string // the content in a sentence, for link previews; empty for the gateway's
	Root  string // scheme and host of this server, for the picture in link previews; empty for none
	Now   time.Time
	Page  any
}

// Write renders the whole page before writing the first byte.
func (p *Pages) Write(to io.Writer, name string, v View) error {
	var page bytes.Buffer
	if err := p.templates[name]().ExecuteTemplate(&page, "page", v); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	_, err := page.WriteTo(to)
	return err
}

// ChainName returns the name of a chain, or its id if it is unknown.
func (p *Pages) ChainName(id chain.ID) string {
	if known, isKnown := p.Chains.Chain(id); isKnown {
		return known.Name
	}
	return "chain " + id.String()
}

// TxURL returns a transaction's URL in the chain's explorer, empty if the chain has none. EVM explorers use the paths
// of EIP-3091, as Solana's does; TRON's spells them out.
func (p *Pages) TxURL(id chain.ID, hash string) string {
	return p.explorerURL(id, "tx", "transaction", hash)
}

// AddressURL returns the URL of an account or token in the explorer, empty for the native coin, which has no address.
func (p *Pages) AddressURL(id chain.ID, text string) string {
	known, _ := p.Chains.Chain(id)
	if address, err := chain.ParseAddress(text, known.Family); err != nil || address.IsNative() {
		return ""
	}
	return p.explorerURL(id, "address", "address", text)
}

func (p *Pages) explorerURL(id chain.ID, what, onTron, name string) string {
	known, _ := p.Chains.Chain(id)
	if known.Explorer == "" || name == "" {
		return ""
	}
	if known.Family == chain.TVM {
		what = onTron
	}
	return strings.TrimRight(known.Explorer, "/") + "/" + what + "/" + name
}

// Problem is an error as a page shows it.
type Problem struct {
	Status  int
	ID      string // for programs
	Message string // for people
	Request string // the request's id in the log
	Asked   string // the id in the path, to be corrected; empty if none

	Retry time.Duration // when to retry; zero if that is pointless
}

// Title describes the kind of failure in a few words.
func (p Problem) Title() string {
	switch {
	case p.Status == http.StatusNotFound:
		return "Not found"
	case p.Status == http.StatusTooManyRequests:
		return "Too many requests"
	case p.Status >= http.StatusInternalServerError && p.Retry > 0:
		return "Not available at the moment"
	case p.Status >= http.StatusInternalServerError:
		return "Something went wrong here"
	}
	return "The request cannot be answered"
}

// Problem writes the page of a failed request.
func (p *Pages) Problem(to io.Writer, problem Problem) error {
	return p.Write(to, "problem", View{Title: problem.Title(), Page: problem})
}
