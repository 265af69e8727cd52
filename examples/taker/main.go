// Command taker shows what a taker has fulfilled but was not paid for yet: how much of which token waits on which
// chain, and the IDs of the orders to unlock for it, by the chain to send the unlock from.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	crossgate "crossgate/clients/go"
)

func main() {
	gateway := flag.String("gateway", "http://127.0.0.1:8080", "`URL` of the gateway")
	taker := flag.String("taker", "", "`address` of the taker's unlock authority, of any chain family")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	locked, err := (&crossgate.Client{URL: *gateway}).LockedAssets(ctx, *taker)
	if err != nil {
		fmt.Fprintln(os.Stderr, "taker:", err)
		os.Exit(1)
	}
	for _, chain := range locked.Behind {
		fmt.Fprintln(os.Stderr, "taker: the index is behind on chain", chain)
	}
	report(os.Stdout, locked.Chains)
}

// report writes a line per token, followed by the orders to unlock.
func report(out io.Writer, locked []crossgate.LockedChain) {
	for _, chain := range locked {
		for _, token := range chain.Tokens {
			fmt.Fprintf(out, "chain %d: %s %s locked (%s USD)\n", chain.Chain, known(token.Amount), token.Metadata.Symbol, known(token.USD))
			for _, to := range token.Destinations {
				fmt.Fprintf(out, "  unlock %s from chain %d, %d orders:\n", known(to.Amount), to.Chain, len(to.Orders))
				for _, order := range to.Orders {
					fmt.Fprintln(out, "   ", order)
				}
			}
		}
	}
}

// known formats a number, or says that the gateway does not know it.
func known(number *float64) string {
	if number == nil {
		return "unknown"
	}
	return strconv.FormatFloat(*number, 'f', -1, 64)
}
