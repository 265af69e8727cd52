package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/sandbox"
)

// guide is what is there to try, with URLs ready to paste.
type guide struct {
	world              *sandbox.World
	gateway, operators string
}

// print shows it once everything is up, which took so long.
func (g guide) print(ctx context.Context, out io.Writer, took time.Duration) error {
	world, gateway := g.world, g.gateway
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "The sandbox is up after %.1f s. Ctrl-C ends it.\n\n", took.Seconds())
	fmt.Fprintf(table, "pages, and the API\t%s/\n", gateway)
	fmt.Fprintf(table, "the API's document\t%s/docs\n", gateway)
	fmt.Fprintf(table, "operators' page\t%s/\n", g.operators)
	fmt.Fprintf(table, "everything in it\t%s/sandbox/world\n", world.URL())
	fmt.Fprintf(table, "controls\t%s/\n", world.URL())
	for _, c := range world.Chains() {
		fmt.Fprintf(table, "%s (%s)\t%s\n", c.Facts.Name, c.Facts.ID, c.RPC)
	}
	fmt.Fprintf(table, "%s (%s)\t%s\n", world.Solana().Facts.Name, world.Solana().Facts.ID, world.Solana().RPC)
	if err := printOrders(ctx, table, world, gateway); err != nil {
		return err
	}
	fmt.Fprintf(table, "\nLocked for a taker\n")
	for _, taker := range world.Takers() {
		fmt.Fprintf(table, "%s\t%s/api/Satistics/%s/lockedAssets\n", taker.Name, gateway, strings.ToLower(taker.Address.Hex()))
	}
	printSwaps(table, world, gateway)
	return table.Flush()
}

// printOrders shows the first order of every state.
func printOrders(ctx context.Context, out io.Writer, world *sandbox.World, gateway string) error {
	orders, err := world.Orders(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d orders, one of each state\n", len(orders))
	shown := make(map[order.State]bool)
	for _, o := range orders {
		state, err := world.State(ctx, o)
		if err != nil {
			return err
		}
		if shown[state] {
			continue
		}
		shown[state] = true
		fmt.Fprintf(out, "%s\t%s/api/Orders/creationTxHash/%s\n", state, gateway, o.CreationTx)
	}
	return nil
}

// printSwaps shows a swap of each chain's coin into its first stable token.
func printSwaps(out io.Writer, world *sandbox.World, gateway string) {
	const coin = "0x0000000000000000000000000000000000000000"
	account := strings.ToLower(world.Accounts()[0].Address.Hex())
	fmt.Fprintf(out, "\nSwap 0.1 of the coin into USDC\n")
	for _, c := range world.Chains() {
		oneTenth := "1" + strings.Repeat("0", int(c.Facts.Coin.Decimals)-1)
		for _, t := range c.Tokens {
			if t.Symbol != "USDC" {
				continue
			}
			fmt.Fprintf(out, "%s\t%s/v1.0/chain/transaction?chainId=%s&tokenIn=%s&tokenInAmount=%s&tokenOut=%s&tokenOutRecipient=%s&senderAddress=%s\n",
				c.Facts.Name, gateway, c.Facts.ID, coin, oneTenth, strings.ToLower(t.Address.Hex()), account, account)
		}
	}
	solana, wallet := world.Solana(), world.Accounts()[0].Wallet.Key
	for _, t := range solana.Tokens {
		if t.Symbol == "USDC" {
			fmt.Fprintf(out, "%s\t%s/v1.0/chain/transaction?chainId=%s&tokenIn=%s&tokenInAmount=100000000&tokenOut=%s&tokenOutRecipient=%s&senderAddress=%s\n",
				solana.Facts.Name, gateway, solana.Facts.ID, chain.NativeCoin(chain.SVM).Format(chain.SVM), t.Mint, wallet, wallet)
		}
	}
}
