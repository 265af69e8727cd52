package solana

import (
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
)

// TestTransactionsArePrinted has solana-go print a transaction by crossgate's treeout.
func TestTransactionsArePrinted(t *testing.T) {
	transaction := solana.Transaction{Signatures: []solana.Signature{{1}}}
	text := transaction.String()
	_, after, found := strings.Cut(text, "  Signatures[len=1]\n    ")
	if line, _, _ := strings.Cut(after, "\n"); !found || line != (solana.Signature{1}).String() || !strings.Contains(after, "\n  Message\n    ") {
		t.Errorf("printed is\n%s\nwant the signature below Signatures, and what is in the message below Message", text)
	}
}
