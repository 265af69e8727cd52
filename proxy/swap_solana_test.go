package proxy

import (
	"errors"
	"strings"
	"testing"

	"crossgate/chain"
)

func TestSolanaNeedsASender(t *testing.T) {
	const (
		wallet = "29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2"
		query  = "chainId=7565164&tokenIn=11111111111111111111111111111111&tokenInAmount=1000000" +
			"&tokenOut=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v&tokenOutRecipient=" + wallet
	)
	_, err := parseSwap(query, chain.Documented(), true)
	if p, is := errors.AsType[*problem](err); !is || !strings.Contains(p.message, "senderAddress is required on Solana") {
		t.Errorf("parseSwap without a sender = %v, want that one is required", err)
	}
	r, err := parseSwap(query+"&senderAddress="+wallet, chain.Documented(), true)
	if err != nil || r.Sender != r.Recipient || !r.TokenIn.IsNative() {
		t.Errorf("parseSwap = %+v, %v; want a swap of the coin by the recipient", r, err)
	}
}
