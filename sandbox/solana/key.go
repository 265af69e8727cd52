package solana

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"

	"github.com/mr-tron/base58"
)

// Key is the address of an account: an ed25519 public key, or one derived so that no private key exists.
type Key [32]byte

// ParseKey reads base58 of 32 bytes.
func ParseKey(text string) (Key, error) {
	const longest = 44
	if len(text) > longest {
		return Key{}, fmt.Errorf("%d characters are no address", len(text))
	}
	raw, err := base58.Decode(text)
	if err != nil || len(raw) != len(Key{}) {
		return Key{}, fmt.Errorf("%q is not base58 of 32 bytes", text)
	}
	return Key(raw), nil
}

// known is a key written in our own source.
func known(text string) Key {
	k, err := ParseKey(text)
	if err != nil {
		panic(err.Error())
	}
	return k
}

func (k Key) String() string { return base58.Encode(k[:]) }

// MarshalText writes base58.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads base58.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKey(string(text))
	return err
}

// Signature names a transaction: the first of its signatures.
type Signature [ed25519.SignatureSize]byte

func (s Signature) String() string { return base58.Encode(s[:]) }

// MarshalText writes base58.
func (s Signature) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Account is a key pair. Those of the sandbox are public knowledge, derived from a fixed text.
type Account struct {
	Name    string
	Key     Key
	private ed25519.PrivateKey
}

// NewAccount derives a key pair from a seed.
func NewAccount(name string, seed [32]byte) Account {
	private := ed25519.NewKeyFromSeed(seed[:])
	return Account{Name: name, Key: Key(private.Public().(ed25519.PublicKey)), private: private}
}

// Secret is the key pair in base58, as wallets import it.
func (a Account) Secret() string { return base58.Encode(a.private) }

func (a Account) sign(message []byte) Signature { return Signature(ed25519.Sign(a.private, message)) }

// made is the key of something that has no address in the real world.
func made(name string) Key {
	return NewAccount(name, sha256.Sum256([]byte("crossgate sandbox: solana "+name))).Key
}

// derive finds the address that program owns under seeds, and the bump that takes it off the curve:
// https://solana.com/docs/core/pda.
func derive(program Key, seeds ...[]byte) (at Key, bump byte) {
	const marker = "ProgramDerivedAddress"
	for bump := 255; bump >= 0; bump-- {
		preimage := append(slices.Concat(seeds...), byte(bump))
		candidate := Key(sha256.Sum256(append(append(preimage, program[:]...), marker...)))
		if !candidate.onCurve() {
			return candidate, byte(bump)
		}
	}
	panic("no bump takes the address off the curve")
}

// pda is the derived address without its bump.
func pda(program Key, seeds ...[]byte) Key {
	at, _ := derive(program, seeds...)
	return at
}

var (
	fieldPrime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	// curveD is -121665/121666, the d of -x² + y² = 1 + dx²y².
	curveD = func() *big.Int {
		inverse := new(big.Int).ModInverse(big.NewInt(121666), fieldPrime)
		return inverse.Mul(inverse, big.NewInt(-121665)).Mod(inverse, fieldPrime)
	}()
)

// onCurve reports whether the bytes are the y coordinate of a point, that is whether (y²-1)/(dy²+1) has
// a square root.
func (k Key) onCurve() bool {
	bytes := k
	slices.Reverse(bytes[:])
	bytes[0] &= 0x7f // the sign of x
	y := new(big.Int).SetBytes(bytes[:])
	square := y.Mul(y, y).Mod(y, fieldPrime)
	above := new(big.Int).Sub(square, big.NewInt(1))
	below := new(big.Int).Mul(square, curveD)
	below.Add(below, big.NewInt(1))
	// A quotient is a square exactly when the product is.
	return big.Jacobi(above.Mul(above, below).Mod(above, fieldPrime), fieldPrime) >= 0
}
