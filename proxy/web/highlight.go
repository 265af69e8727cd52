package web

import (
	"html/template"
	"regexp"
	"strings"
)

// jsonToken is a token of JSON (RFC 8259): a member's name with its colon, a string, another value.
var jsonToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(?:\s*:)?|-?\d[-+.\deE]*|true|false|null`)

// highlighted is JSON as HTML with its members and its numbers, booleans and nulls marked. Its text stays as it is, so
// that it can be copied, whether it is JSON or not.
func highlighted(text string) template.HTML {
	var html strings.Builder
	at := 0
	for _, found := range jsonToken.FindAllStringIndex(text, -1) {
		html.WriteString(template.HTMLEscapeString(text[at:found[0]]))
		token := text[found[0]:found[1]]
		at = found[1]
		switch escaped := template.HTMLEscapeString(token); {
		case token[0] != '"':
			html.WriteString("<i>" + escaped + "</i>")
		case strings.HasSuffix(token, ":"):
			html.WriteString("<b>" + strings.TrimSuffix(escaped, ":") + "</b>:")
		default:
			html.WriteString(escaped)
		}
	}
	html.WriteString(template.HTMLEscapeString(text[at:]))
	return template.HTML(html.String()) // its parts are escaped above
}
