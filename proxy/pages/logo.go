package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/token"
)

// Lives of a logo, and of the answer that there is none.
var (
	logoLife   = cache.Life{Fresh: 24 * time.Hour, Stale: 24 * time.Hour, IfError: 7 * 24 * time.Hour}
	noLogoLife = cache.Life{Fresh: 10 * time.Minute}
)

// logoPolicy keeps a picture from running anything, even if opened by itself.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// logoRoute fetches the logo of a token; its value is the content type, empty without a logo. It is not mounted.
func (s *Pages) logoRoute() proxy.Route[token.Key] {
	return proxy.Route[token.Key]{
		Paths: []string{"/logo"},
		Key:   func(path string, key token.Key) cache.Key { return proxy.KeyOf(path, key) },
		Load: func(ctx context.Context, key token.Key) ([]proxy.Body, cache.Life, error) {
			of, err := s.options().Tokens.Lookup(ctx, key.Chain, key.Address)
			if err != nil {
				return nil, proxy.NoLife, err
			}
			contentType, picture, err := s.options().Logo(ctx, of[0].LogoURI)
			if err != nil {
				return []proxy.Body{{Value: ""}}, noLogoLife, nil
			}
			return []proxy.Body{{Text: string(picture), Value: contentType}}, logoLife, nil
		},
	}
}

// logo sends the logo of a token, or no content, in which case pages show its initial.
func (s *Pages) logo(c *gin.Context) {
	id, err := chain.ParseID(c.Param("id"))
	known, isKnown := s.chains.Chain(id)
	address, errOfAddress := chain.ParseAddress(c.Param("address"), known.Family)
	if err != nil || !isKnown || errOfAddress != nil {
		s.server.TurnAway(c, proxy.UnknownPath.Because(""))
		return
	}
	contentType := ""
	found, _, err := s.logoRoute().Ask(c.Request.Context(), s.server, token.Key{Chain: id, Address: address})
	if err == nil {
		contentType = found.Value.(string)
	}
	if contentType == "" {
		c.Header("Cache-Control", "max-age=600")
		c.Status(http.StatusNoContent)
		return
	}
	c.Header("Cache-Control", "public, max-age=86400")
	c.Header("Content-Security-Policy", logoPolicy)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Data(http.StatusOK, contentType, []byte(found.Text))
}
