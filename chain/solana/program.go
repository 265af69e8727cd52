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
	LookupTableProgram     = MustAccount("AddressLookupTab1e1111111111111111111111111")
	MemoProgram            = MustAccount("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
	InstructionsSysvar     = MustAccount("Sysvar1nstructions1111111111111111111111111")
)

// MustAccount parses an address in our own source.
func MustAccount(text string) chain.Address {
	a, err := chain.ParseAddress(text, chain.SVM)
	if err != nil {
		panic("solana: account: " + err.Error())
	}
	return a
}

// Base58 is an address as JSON holds it.
type Base58 struct{ chain.Address }

func (b *Base58) UnmarshalText(text []byte) (err error) {
	b.Address, err = chain.ParseAddress(string(text), chain.SVM)
	return err
}

// IsWallet reports whether an account may belong to a key: it is on the curve, unlike accounts of programs.
func IsWallet(account chain.Address) bool {
	_, err := new(edwards25519.Point).SetBytes(account.Bytes())
	return err == nil
}

// ProgramAddress derives a program's account from seeds: the first hash off the curve (solana.com/docs/core/pda).
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
		if found := chain.NewAddress(candidate); !IsWallet(found) {
			return found
		}
	}
	return chain.Address{} // as likely as 256 tosses of a coin that all come up heads
}
