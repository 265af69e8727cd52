package pages

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/reference"
	"crossgate/token"
)

// apiReference is what openapi.yaml says.
var apiReference = sync.OnceValue(func() reference.Reference {
	read, err := reference.Read(proxy.OpenAPI)
	if err != nil {
		panic("proxy: " + err.Error())
	}
	return read
})

// referencePage shows the API with examples of what there is.
func (s *Pages) referencePage(c *gin.Context) {
	ctx := c.Request.Context()
	values := s.pages.exampleValues(
		s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.CrossChain}), s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.SameChain}),
	)
	s.addExemplarySwap(ctx, values)
	shown := Docs{Reference: apiReference(), Origin: originOf(c.Request), Values: values}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Docs(to, shown) })
}

// addExemplarySwap adds a swap of a tenth of a chain's coin for USDC, if there is such a chain.
func (s *Pages) addExemplarySwap(ctx context.Context, values reference.Values) {
	for _, c := range s.swaps.Serving() {
		listed := s.options.Tokens.Listed(ctx, c.ID)
		at := slices.IndexFunc(listed, func(t token.Listing) bool { return t.IsProminent && t.Symbol == "USDC" })
		if c.Family != chain.EVM || at < 0 {
			continue
		}
		values["chainId"], values["tokenIn"] = c.ID.String(), chain.NativeCoin(c.Family).Format(c.Family)
		values["tokenInAmount"] = "1" + strings.Repeat("0", max(int(c.Coin.Decimals)-1, 0))
		values["tokenOut"] = listed[at].Address.Format(c.Family)
		break
	}
	for _, g := range apiReference().Groups {
		for _, o := range g.Operations {
			if by := o.ID + "ByPost"; slices.ContainsFunc(g.Operations, func(other reference.Operation) bool { return other.ID == by }) {
				values.SetBody(by, o.Query(values)) // which takes the parameters in its body
			}
		}
	}
}
