// Package tokenlist fetches public token lists. Package token/catalog reads them.
package tokenlist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"crossgate/internal/publicnet"
	"crossgate/upstream"
)

// Fetch returns the list that a pool's endpoints serve at their URLs.
func Fetch(ctx context.Context, pool *upstream.Pool) ([]byte, error) {
	answer, err := pool.Do(ctx, upstream.Request{}, func(r upstream.Response) error {
		if r.Status >= http.StatusBadRequest {
			return fmt.Errorf("HTTP status %d", r.Status)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fetch token list: %w", err)
	}
	return answer.Body, nil
}

// Bounds of a logo.
const (
	mostLogoBytes = 256 << 10
	logoPatience  = 5 * time.Second
	mostRedirects = 3
)

// logos fetches from public addresses only, and not through proxies: other people's lists choose the hosts, and must
// not reach what only this machine can.
var logos = &http.Client{
	Timeout: logoPatience,
	Transport: &http.Transport{
		DialContext:            (&net.Dialer{Timeout: logoPatience, Control: onlyPublic}).DialContext,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	},
	CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > mostRedirects {
			return errors.New("redirected away from HTTPS, or too often")
		}
		return nil
	},
}

func onlyPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || at.Port() != 443 || !publicnet.IsPublic(at.Addr()) {
		return fmt.Errorf("%s is not a public HTTPS address", address)
	}
	return nil
}

// Logo fetches the picture at a URL, with its content type: PNG, JPEG, GIF, WebP or SVG. SVG can hold scripts, so it
// must be served with a policy that forbids them.
func Logo(ctx context.Context, url string) (contentType string, picture []byte, err error) {
	return fetchLogo(ctx, logos, url)
}

func fetchLogo(ctx context.Context, client *http.Client, url string) (contentType string, picture []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil || request.URL.Scheme != "https" {
		return "", nil, errors.New("fetch logo: not an HTTPS URL")
	}
	request.Header.Set("Accept", "image/*")
	response, err := client.Do(request)
	if err != nil {
		return "", nil, fmt.Errorf("fetch logo: %w", err)
	}
	defer response.Body.Close()
	picture, err = io.ReadAll(io.LimitReader(response.Body, mostLogoBytes+1))
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("fetch logo: %w", err)
	case response.StatusCode != http.StatusOK:
		return "", nil, fmt.Errorf("fetch logo: HTTP status %d", response.StatusCode)
	case len(picture) > mostLogoBytes:
		return "", nil, fmt.Errorf("fetch logo: more than %d bytes", mostLogoBytes)
	}
	switch contentType = http.DetectContentType(picture); contentType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return contentType, picture, nil
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "image/svg+xml") && bytes.Contains(picture, []byte("<svg")) {
		return "image/svg+xml", picture, nil
	}
	return "", nil, errors.New("fetch logo: not a picture")
}
