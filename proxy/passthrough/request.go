package passthrough

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"crossgate/cache/rfc9111"
	"crossgate/upstream"
)

// unkeyed are fields by which proxies tell origins what was asked. The key does not have them, so no client may say
// them: what one says would decide what others get.
var unkeyed = []string{
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Proto",
	"X-Forwarded-Scheme", "X-Forwarded-Server", "X-Forwarded-Ssl", "X-Forwarded-Uri", "X-Host", "X-Http-Host-Override",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Host", "X-Original-Uri",
	"X-Original-Url", "X-Real-Ip", "X-Rewrite-Url",
}

// endToEnd returns the fields of a request that are not for this connection alone. It may be the same header.
func endToEnd(header http.Header) http.Header {
	for _, line := range header["Connection"] {
		if !strings.EqualFold(line, "keep-alive") && !strings.EqualFold(line, "close") {
			cleaned := header.Clone()
			rfc9111.DropHopByHop(cleaned)
			return cleaned
		}
	}
	return header
}

// isOurs reports whether the origin gets another value of a field than the client sent: by such a field no response is
// selected.
func isOurs(name string) bool {
	return name == "Via" || name == "Connection" || name == "Te" || name == "Host" || slices.Contains(unkeyed, name)
}

// variesByOurs reports whether Vary names such a field.
func variesByOurs(header http.Header) bool {
	return slices.ContainsFunc(rfc9111.Selecting(header), isOurs)
}

// forwardOf is the request that goes on.
func (h *Handler) forwardOf(x *exchange) upstream.Forward {
	header := x.header.Clone()
	rfc9111.DropHopByHop(header)
	for _, name := range unkeyed {
		delete(header, name)
	}
	delete(header, "Expect") // it is met by this side of the connection
	if address := h.options.Client(x.r); address.IsValid() {
		header["X-Forwarded-For"] = []string{address.String()}
	}
	header["Via"] = append(slices.Clone(header["Via"]), strconv.Itoa(x.r.ProtoMajor)+"."+strconv.Itoa(x.r.ProtoMinor)+" "+Name)
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{""} // net/http would name itself
	}
	f := upstream.Forward{Method: x.r.Method, Path: x.path, RawQuery: x.r.URL.RawQuery, Header: header}
	if x.host.KeepHost {
		f.Host = x.r.Host
	}
	return f
}

// escapedPath is the path of a request as the client escaped it.
func escapedPath(r *http.Request) string {
	if path := r.URL.EscapedPath(); path != "" {
		return path
	}
	return "/"
}

// isUpgrade reports whether a client wants to speak another protocol on its connection.
func isUpgrade(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.ProtoMinor > 0 && len(r.Header["Upgrade"]) > 0 && nominates(r.Header, "Upgrade")
}

// nominates reports whether Connection names a field.
func nominates(header http.Header, name string) bool {
	for _, line := range header["Connection"] {
		for each := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.Trim(each, " \t"), name) {
				return true
			}
		}
	}
	return false
}
