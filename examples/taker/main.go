// Command taker shows what a taker has delivered and was not paid for yet: how much of which token waits on which
// chain, and the ids of the orders to unlock for it, by the chain to send the unlock from.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// lockedChain is what GET /api/Satistics/{taker}/lockedAssets answers for each give chain, as far as a taker reads it.
type lockedChain struct {
	Chain  text `json:"chainId"`
	Tokens []struct {
		Metadata struct {
			Symbol string `json:"symbol"`
		} `json:"tokenMetadata"`
		USD          float64 `json:"amount"`      // US dollars
		Amount       float64 `json:"tokenAmount"` // whole tokens
		Destinations []struct {
			Chain  text    `json:"targetChainId"` // where the order was delivered, and the unlock is sent from
			Amount float64 `json:"dstChainTokenAmount"`
			Orders []text  `json:"ordersToUnlock"`
		} `json:"dstChainsLockedAmounts"`
	} `json:"lockedTokens"`
}

// text is an id in the API's several encodings, of which this is the one for people.
type text struct {
	Text string `json:"stringValue"`
}

// problem is the body of every error.
type problem struct {
	ID      string `json:"errorId"`
	Message string `json:"errorMessage"`
	Request string `json:"reqId"`
}

func main() {
	gateway := flag.String("gateway", "http://127.0.0.1:8080", "`URL` of the gateway")
	taker := flag.String("taker", "", "`address` of the taker's unlock authority, of any chain family")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	locked, err := lockedFor(ctx, *gateway, *taker)
	if err != nil {
		fmt.Fprintln(os.Stderr, "taker:", err)
		os.Exit(1)
	}
	report(os.Stdout, locked)
}

// lockedFor asks the gateway what is locked for a taker.
func lockedFor(ctx context.Context, gateway, taker string) ([]lockedChain, error) {
	address := fmt.Sprintf("%s/api/Satistics/%s/lockedAssets", gateway, url.PathEscape(taker))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var p problem
		if err := json.NewDecoder(response.Body).Decode(&p); err != nil {
			return nil, fmt.Errorf("the gateway answered %s", response.Status)
		}
		return nil, fmt.Errorf("%s: %s (request %s)", p.ID, p.Message, p.Request)
	}
	// A list of what is locked is only as complete as the index: one member for each chain, such as
	// 1;block=21000000;lag=2.
	for chain := range strings.SplitSeq(response.Header.Get("Index-Basis"), ", ") {
		if strings.Contains(chain, ";behind") {
			fmt.Fprintln(os.Stderr, "taker: the index is behind on chain", chain)
		}
	}
	var locked []lockedChain
	if err := json.NewDecoder(response.Body).Decode(&locked); err != nil {
		return nil, fmt.Errorf("locked assets of %s: %w", taker, err)
	}
	return locked, nil
}

// report writes a line for each token and, below it, the orders to unlock.
func report(out io.Writer, locked []lockedChain) {
	for _, chain := range locked {
		for _, token := range chain.Tokens {
			fmt.Fprintf(out, "chain %s: %g %s locked (%.2f USD)\n", chain.Chain.Text, token.Amount, token.Metadata.Symbol, token.USD)
			for _, to := range token.Destinations {
				fmt.Fprintf(out, "  unlock %g from chain %s, %d orders:\n", to.Amount, to.Chain.Text, len(to.Orders))
				for _, order := range to.Orders {
					fmt.Fprintln(out, "   ", order.Text)
				}
			}
		}
	}
}
