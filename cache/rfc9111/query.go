package rfc9111

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Query says which differences of a query make no other resource (No-Vary-Search). The zero Query says: all do.
type Query struct {
	AnyOrder bool
	Ignore   []string // parameters that do not count
	AllBut   []string // none count but these, where IgnoreRest
	// IgnoreRest says that only parameters of AllBut count.
	IgnoreRest bool
}

// QueryOf reads No-Vary-Search. A field that cannot be read says nothing.
func QueryOf(header http.Header) Query {
	lines := header["No-Vary-Search"]
	if len(lines) == 0 {
		return Query{}
	}
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return Query{}
	}
	var q Query
	q.AnyOrder, _ = flag(dictionary, "key-order")
	member, _ := dictionary.Get("params")
	switch params := member.(type) {
	case httpsfv.Item:
		isSet, isFlag := params.Value.(bool)
		if !isFlag {
			return Query{}
		}
		q.IgnoreRest = isSet
	case httpsfv.InnerList:
		var isText bool
		if q.Ignore, isText = texts(params); !isText {
			return Query{}
		}
	}
	if except, given := dictionary.Get("except"); given {
		list, isList := except.(httpsfv.InnerList)
		names, isText := texts(list)
		if !isList || !isText || !q.IgnoreRest {
			return Query{}
		}
		q.AllBut = names
	}
	return q
}

func flag(dictionary *httpsfv.Dictionary, name string) (value, known bool) {
	member, given := dictionary.Get(name)
	item, isItem := member.(httpsfv.Item)
	if !given || !isItem {
		return false, false
	}
	value, known = item.Value.(bool)
	return value, known
}

func texts(list httpsfv.InnerList) (all []string, ok bool) {
	for _, item := range list.Items {
		text, isText := item.Value.(string)
		if !isText {
			return nil, false
		}
		all = append(all, text)
	}
	return all, true
}

// IsDefault reports whether every difference counts.
func (q Query) IsDefault() bool { return !q.AnyOrder && !q.IgnoreRest && len(q.Ignore) == 0 }

// Canonical is a query without the differences that do not count. One that cannot be parsed stays as it is.
func (q Query) Canonical(raw string) string {
	if q.IsDefault() || raw == "" {
		return raw
	}
	var kept []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil || strings.Contains(pair, ";") {
			return raw
		}
		if counts := !slices.Contains(q.Ignore, plain) && (!q.IgnoreRest || slices.Contains(q.AllBut, plain)); counts && pair != "" {
			kept = append(kept, pair)
		}
	}
	if q.AnyOrder { // those of one name keep their order
		slices.SortStableFunc(kept, func(a, b string) int {
			nameA, _, _ := strings.Cut(a, "=")
			nameB, _, _ := strings.Cut(b, "=")
			return strings.Compare(nameA, nameB)
		})
	}
	return strings.Join(kept, "&")
}
