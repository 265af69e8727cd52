package proxy_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestReferenceShowsAllOfTheDocument looks on the page for everything that kin-openapi finds in the document.
func TestReferenceShowsAllOfTheDocument(t *testing.T) {
	page := pageAt(t, newWorld(t).server(t), "/docs/", http.StatusOK)
	parts, whole := strings.Split(page, `<article class="operation"`), html.UnescapeString(page)
	want := func(part, what, in string) {
		if !strings.Contains(part, what) {
			t.Errorf("the reference lacks %q in %s", what, in)
		}
	}
	operations, aliases := 0, 0
	for path, item := range document(t).Paths.Map() {
		for method, o := range item.Operations() {
			operations++
			name := method + " " + path
			part := ""
			for _, each := range parts[1:] {
				if strings.Contains(each, `id="`+o.OperationID+`"`) {
					part, _, _ = strings.Cut(each, "</article>")
					part = html.UnescapeString(part)
				}
			}
			if of, isAlias := o.Extensions["x-alias-of"]; isAlias {
				aliases++
				want(part, ` or <code id="`+o.OperationID+`">`+path+"<", name)
				want(part, `id="`+of.(string)+`"`, name)
			} else {
				want(part, ">"+method+"</span> <code>"+path+"<", name)
			}
			want(part, ">"+o.Summary+"<", name)
			for _, p := range o.Parameters {
				want(part, "<code>"+p.Value.Name+"</code>", name)
			}
			for status, response := range o.Responses.Map() {
				want(part, "<strong>"+status+"</strong>", name)
				for header := range response.Value.Headers {
					want(whole, `id="header-`+header+`"`, name)
				}
				for _, id := range errorsIn(response.Value) {
					want(part, ">"+id+"<", name+" "+status)
				}
			}
		}
	}
	if operations < 25 || aliases != 3 || operations-aliases != len(parts)-1 {
		t.Errorf("the page has %d operations, the document %d with %d aliases", len(parts)-1, operations, aliases)
	}
	for name, schema := range document(t).Components.Schemas {
		_, part, _ := strings.Cut(page, `id="schema-`+name+`"`)
		part, _, _ = strings.Cut(part, "</details>")
		part = html.UnescapeString(part)
		if part == "" {
			t.Errorf("the reference lacks the schema %s", name)
		}
		for member := range schema.Value.Properties {
			want(part, "<code>"+member+"</code>", name)
		}
	}
	if left := regexp.MustCompile("`|\\*\\*|\\]\\(").FindString(regexp.MustCompile(`(?s)<pre.*?</pre>`).ReplaceAllString(page, "")); left != "" {
		t.Errorf("the page shows %q: a mark that it does not know", left)
	}
}

// errorsIn returns the values of errorId that a response allows.
func errorsIn(response *openapi3.Response) (ids []string) {
	content := response.Content["application/json"]
	if content == nil {
		return nil
	}
	for _, part := range content.Schema.Value.AllOf {
		errorID := part.Value.Properties["errorId"]
		if errorID == nil || part.Ref != "" {
			continue
		}
		for _, id := range errorID.Value.Enum {
			ids = append(ids, id.(string))
		}
	}
	return ids
}

// TestReferenceLinksLeadSomewhere requires an element for each link within the page.
func TestReferenceLinksLeadSomewhere(t *testing.T) {
	page := pageAt(t, newWorld(t).server(t), "/docs", http.StatusOK)
	links := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	for _, link := range links {
		if strings.Count(page, `id="`+link[1]+`"`) != 1 {
			t.Errorf("#%s leads to %d elements", link[1], strings.Count(page, `id="`+link[1]+`"`))
		}
	}
	if len(links) < 100 {
		t.Errorf("the page has %d links within itself, want more", len(links))
	}
}

// TestExamplesOfTheReferenceAreAnswered sends the examples, both links and commands.
func TestExamplesOfTheReferenceAreAnswered(t *testing.T) {
	w := newWorld(t)
	s := w.server(t, func(o *parts) { o.Tokens, o.Feed = listing{w.tokenList}, newKept(t).Feed })
	page := pageAt(t, s, "/docs/", http.StatusOK)
	links := regexp.MustCompile(`<a href="([^"]+)">Try it`).FindAllStringSubmatch(page, -1)
	for _, link := range links {
		target := html.UnescapeString(link[1])
		if response := get(s, target); response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusBadRequest && !strings.HasPrefix(target, "/v1.0/dln/order/") { // 400 without the order
			t.Errorf("GET %s = %d %.300s", target, response.StatusCode, body(t, response))
		}
	}
	command := regexp.MustCompile(`(?s)<code>curl &#39;http://example.com(/[^<]*?)&#39; \\\n.*?-d &#39;(.*?)&#39;</code>`)
	posts := command.FindAllStringSubmatch(page, -1)
	for _, post := range posts {
		r := httptest.NewRequest(http.MethodPost, html.UnescapeString(post[1]), strings.NewReader(html.UnescapeString(post[2])))
		r.Header.Set("Content-Type", "application/json")
		wantStatus(t, post[0], serve(s, r), http.StatusOK)
	}
	if len(posts) != 7 {
		t.Errorf("the page has %d commands with a body, want 7", len(posts))
	}
	if len(links) < 20 {
		t.Errorf("the page has %d links that send an example, want more", len(links))
	}
}
