package solana

import (
	"crypto/sha256"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
)

var (
	began  = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	maker  = NewAccount("maker", sha256.Sum256([]byte("maker")))
	taker  = NewAccount("taker", sha256.Sum256([]byte("taker")))
	keeper = NewAccount("keeper", sha256.Sum256([]byte("keeper")))
	// wallet is an address on an EVM chain.
	wallet = slices.Repeat([]byte{0xab}, 20)
)

const ethereum = 1

// open returns a ledger with three funded accounts that knows Ethereum.
func open(t *testing.T) *Chain {
	t.Helper()
	c := New(began)
	for _, a := range []Account{maker, taker, keeper} {
		c.Fund(a.Key, 1_000_000_000_000, 1_000_000)
	}
	c.Connect(ethereum, slices.Repeat([]byte{1}, 20), slices.Repeat([]byte{2}, 20))
	return c
}

func named(t *testing.T, symbol string) Token {
	t.Helper()
	i := slices.IndexFunc(Tokens, func(t Token) bool { return t.Symbol == symbol })
	return Tokens[i]
}

// offer returns an ordinary order from Solana.
func offer(t *testing.T, nonce uint64) Creation {
	return Creation{
		Maker: maker, Give: named(t, usdc), Amount: 10_000_000,
		Take:     Offer{ethereum, wallet, big.NewInt(9_900_000)},
		Receiver: wallet, Authority: wallet, Nonce: nonce, Metadata: make([]byte, 66),
	}
}

// TestTransactionsArePrinted proves that solana-go prints a transaction with crossgate's treeout.
func TestTransactionsArePrinted(t *testing.T) {
	transaction := solana.Transaction{Signatures: []solana.Signature{{1}}}
	text := transaction.String()
	_, after, found := strings.Cut(text, "  Signatures[len=1]\n    ")
	if line, _, _ := strings.Cut(after, "\n"); !found || line != (solana.Signature{1}).String() || !strings.Contains(after, "\n  Message\n    ") {
		t.Errorf("printed is\n%s\nwant the signature below Signatures, and what is in the message below Message", text)
	}
}
