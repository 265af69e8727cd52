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

// guide prints what there is to try, with URLs ready to paste.
type guide struct {
	world              *sandbox.World
	gateway, operators string
	config, wallet     string // files that were written; empty: none
}

// print writes the guide once everything is up, which took the given time.
func (g guide) print(ctx context.Context, out io.Writer, took time.Duration) error {
	world, gateway := g.world, g.gateway
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "The sandbox is up after %.1f s. Ctrl-C ends it.\n\n", took.Seconds())
	fmt.Fprintf(table, "pages, and the API\t%s/\n", gateway)
	fmt.Fprintf(table, "the API's document\t%s/docs\n", gateway)
	fmt.Fprintf(table, "operators' page\t%s/\n", g.operators)
	fmt.Fprintf(table, "everything in it\t%s/sandbox/world\n", world.URL())
	fmt.Fprintf(table, "controls\t%s/\n", world.URL())
	for _, written := range [][2]string{{"its configuration", g.config}, {"for examples/wallet", g.wallet}} {
		if written[1] != "" {
			fmt.Fprintf(table, "%s\t%s\n", written[0], written[1])
		}
	}
	for _, c := range world.Chains() {
		fmt.Fprintf(table, "%s (%s)\t%s\n", c.Facts.Name, c.Facts.ID, c.RPC)
	}
	fmt.Fprintf(table, "%s (%s)\t%s\n", world.Solana().Facts.Name, world.Solana().Facts.ID, world.Solana().RPC)
	if err := printOrders(ctx, table, world, gateway); err != nil {
		return err
	}
	fmt.Fprintf(table, "\nLocked for a taker\n")
	for _, taker := range world.Takers() {
		at := strings.ToLower(taker.Address.Hex())
		links(table, taker.Name, gateway+"/locked/"+at, gateway+"/api/Satistics/"+at+"/lockedAssets")
	}
	printSwaps(table, world, gateway)
	return table.Flush()
}

// printOrders prints the first order of every state.
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
		hash := o.CreationTx.String()
		links(out, state.String(), gateway+"/order/"+hash, gateway+"/api/Orders/creationTxHash/"+hash)
	}
	return nil
}

// printSwaps prints a swap of each chain's coin to its first stable token.
func printSwaps(out io.Writer, world *sandbox.World, gateway string) {
	const swap = "%s?chainId=%s&tokenIn=%s&tokenInAmount=%s&tokenOut=%s&tokenOutRecipient=%s&senderAddress=%s"
	account, wallet := strings.ToLower(world.Accounts()[0].Address.Hex()), world.Accounts()[0].Wallet.Key
	fmt.Fprintf(out, "\nSwap 0.1 of the coin into USDC\n")
	show := func(c chain.Chain, token, account any) {
		oneTenth := "1" + strings.Repeat("0", int(c.Coin.Decimals)-1)
		at := func(path string) string {
			return fmt.Sprintf(swap, gateway+path, c.ID, chain.NativeCoin(c.Family).Format(c.Family), oneTenth, token, account, account)
		}
		links(out, c.Name, at("/swap"), at("/v1.0/chain/transaction"))
	}
	for _, c := range world.Chains() {
		for _, t := range c.Tokens {
			if t.Symbol == "USDC" {
				show(c.Facts, strings.ToLower(t.Address.Hex()), account)
			}
		}
	}
	for _, t := range world.Solana().Tokens {
		if t.Symbol == "USDC" {
			show(world.Solana().Facts, t.Mint, wallet)
		}
	}
}

// links prints a page, and below it the same content as JSON.
func links(out io.Writer, name, page, json string) {
	fmt.Fprintf(out, "%s\t%s\n\t%s\n", name, page, json)
}

// walletSettings returns settings for examples/wallet: 0.1 of the first chain's coin for USDC, by one of the accounts.
func (g guide) walletSettings() string {
	c := g.world.Chains()[0]
	var usdc string
	for _, t := range c.Tokens {
		if t.Symbol == "USDC" {
			usdc = t.Address.Hex()
		}
	}
	return fmt.Sprintf("# Of the sandbox: the key is published and worth nothing elsewhere.\nGATEWAY=%s\nRPC_URL=%s\nCHAIN_ID=%d\nPRIVATE_KEY=%s\n"+
		"TOKEN_IN=%s\nTOKEN_OUT=%s\nAMOUNT=100000000000000000\n",
		g.gateway, c.EVMRPC, c.Facts.Native, g.world.Accounts()[1].PrivateKey(), chain.NativeCoin(chain.EVM).Format(chain.EVM), usdc)
}
