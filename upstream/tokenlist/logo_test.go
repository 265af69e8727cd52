package tokenlist

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestLogosAreSmallPicturesOfPublicHosts serves a body per path, and fetches as the gateway does: from loopback, which
// is not a public host, it fetches nothing.
func TestLogosAreSmallPicturesOfPublicHosts(t *testing.T) {
	png := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...)
	bodies := map[string]struct {
		contentType string
		body        []byte
		want        string // content type, or part of the error
	}{
		"/png":   {"application/octet-stream", png, "image/png"},
		"/svg":   {"image/svg+xml; charset=utf-8", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), "image/svg+xml"},
		"/page":  {"image/png", []byte("<html><script>alert(1)</script>"), "not a picture"},
		"/plain": {"text/plain", []byte("<svg onload=alert(1)>"), "not a picture"},
		"/large": {"image/png", append(png, bytes.Repeat([]byte{1}, mostLogoBytes)...), "more than 262144 bytes"},
		"/none":  {"", nil, "HTTP status 404"},
		"/away":  {"", nil, "redirected away"},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch of := bodies[r.URL.Path]; r.URL.Path {
		case "/none":
			http.NotFound(w, r)
		case "/away":
			http.Redirect(w, r, "http://"+r.Host+"/png", http.StatusFound)
		default:
			w.Header().Set("Content-Type", of.contentType)
			_, _ = w.Write(of.body)
		}
	}))
	t.Cleanup(server.Close)
	client := server.Client()
	client.CheckRedirect = logos.CheckRedirect
	for path, of := range bodies {
		got, picture, err := fetchLogo(t.Context(), client, server.URL+path)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, of.want) || err == nil && !bytes.Equal(picture, of.body) {
			t.Errorf("%s = %s, want %s", path, got, of.want)
		}
	}
	if _, _, err := Logo(t.Context(), server.URL+"/png"); err == nil || !strings.Contains(err.Error(), "not a public HTTPS address") {
		t.Errorf("a logo of this machine: %v", err)
	}
	for address, isPublic := range map[string]bool{
		"93.184.216.34:443": true, "[2606:4700::1111]:443": true, "93.184.216.34:80": false, "10.0.0.1:443": false,
		"169.254.169.254:443": false, "[::ffff:127.0.0.1]:443": false, "[fd00::1]:443": false, "0.0.0.0:443": false,
	} {
		if err := onlyPublic("tcp", address, nil); (err == nil) != isPublic {
			t.Errorf("%s: %v, want public: %t", address, err, isPublic)
		}
	}
}
