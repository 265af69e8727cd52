package solana

import (
	"crypto/sha256"

	"filippo.io/edwards25519"

	"crossgate/chain"
)

// Programs that come with the chain, or that every wallet knows.
var (
	SystemProgram          = MustAccount("11111111111111111111111111111111")
	TokenProgram           = MustAccount("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	Token2022Program       = MustAccount("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
	AssociatedTokenProgram = MustAccount("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
	ComputeBudgetProgram   = MustAccount("ComputeBudget111111111111111111111111111111")
	MemoProgram            = MustAccount("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
)

// MustAccount reads an address that stands in our own source.
func MustAccount(text string) chain.Address {
	a, err := chain.ParseAddress(text, chain.SVM)
	if err != nil {
		panic("solana: account: " + err.Error())
	}
	return a
}

// ProgramAddress derives the account that program has under seeds: with a bump from 255 downwards, the first hash off
// the curve, for which no key can sign (solana.com/docs/core/pda). program must exist.
func ProgramAddress(program chain.Address, seeds ...[]byte) chain.Address {
	const marker = "ProgramDerivedAddress"
	for bump := 255; bump >= 0; bump-- {
		hasher := sha256.New()
		for _, seed := range seeds {
			hasher.Write(seed)
		}
		hasher.Write([]byte{byte(bump)})
		hasher.Write(program.Bytes())
		hasher.Write([]byte(marker))
		candidate := hasher.Sum(nil)
		if _, err := new(edwards25519.Point).SetBytes(candidate); err != nil {
			return chain.NewAddress(candidate)
		}
	}
	return chain.Address{} // as likely as 256 tosses of a coin that all come up heads
}
