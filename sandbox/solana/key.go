package solana

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/gagliardetto/solana-go"
)

// Key is the address of an account: an ed25519 public key, or one derived from seeds, which has no private key.
type Key = solana.PublicKey

// Signature identifies a transaction: the first of its signatures.
type Signature = solana.Signature

// ParseKey parses a base58 address.
func ParseKey(text string) (Key, error) { return solana.PublicKeyFromBase58(text) }

// Account is a key pair. Those of the sandbox are public, derived from a fixed text.
type Account struct {
	Name    string
	Key     Key
	private solana.PrivateKey
}

// NewAccount derives a key pair from a seed.
func NewAccount(name string, seed [32]byte) Account {
	private := solana.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	return Account{Name: name, Key: private.PublicKey(), private: private}
}

// Secret returns the key pair in base58, as wallets import it.
func (a Account) Secret() string { return a.private.String() }

// invented returns a key for something that has no address on the real chain.
func invented(name string) Key {
	return NewAccount(name, sha256.Sum256([]byte("crossgate sandbox: solana "+name))).Key
}

// derive finds the address that program owns under seeds, and the bump that moves it off the curve:
// https://solana.com/docs/core/pda.
func derive(program Key, seeds ...[]byte) (at Key, bump byte) {
	at, bump, err := solana.FindProgramAddress(seeds, program)
	if err != nil {
		panic(err.Error()) // one seed in 2^255 has none
	}
	return at, bump
}

// pda returns a derived address whose first seed is a name.
func pda(program Key, name string, seeds ...[]byte) Key {
	at, _ := derive(program, append([][]byte{[]byte(name)}, seeds...)...)
	return at
}
