package solana

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gagliardetto/solana-go"
)

// Token is a mint of the sandbox. The zero key is the native coin.
type Token struct {
	Mint     Key
	Symbol   string
	Name     string
	Decimals int

	program Key
}

// Native represents the coin in orders.
var Native = Token{Symbol: "SOL", Name: "Solana", Decimals: 9}

// Symbols of the sandbox's mints. BARE has no metadata at all.
const (
	usdc    = "USDC"
	wrapped = "SOL" // as on the chain, though it is the coin's symbol too
	jito    = "JitoSOL"
	paypal  = "PYUSD"
	bare    = "BARE"
)

// Tokens are the sandbox's mints: real ones at their real addresses, and an invented one.
var Tokens = []Token{
	{solana.WrappedSol, wrapped, "Wrapped SOL", 9, tokenProgram},
	{solana.MPK("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"), usdc, "USD Coin", 6, tokenProgram},
	{solana.MPK("J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn"), jito, "Jito Staked SOL", 9, tokenProgram},
	{solana.MPK("2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"), paypal, "PayPal USD", 6, token2022Program},
	{invented("mint without metadata"), bare, "", 4, tokenProgram},
}

// TokenAt returns the sandbox's token with a mint.
func TokenAt(mint Key) (Token, error) {
	for _, t := range Tokens {
		if t.Mint == mint {
			return t, nil
		}
	}
	return Token{}, fmt.Errorf("mint %s is not in the sandbox", mint)
}

// isNative reports whether the token is the coin itself, which needs no token account.
func (t Token) isNative() bool { return t.Mint == systemProgram }

// programOrDefault returns the token's program. Instructions about the coin use the standard token program.
func (t Token) programOrDefault() Key {
	if t.program == (Key{}) {
		return tokenProgram
	}
	return t.program
}

// Wallet returns the account in which owner holds a token: the associated one, or for the coin owner's own.
func (t Token) Wallet(owner Key) Key {
	if t.isNative() {
		return owner
	}
	return pda(associatedProgram, "", owner[:], t.program[:], t.Mint[:])
}

// units converts whole tokens to smallest units.
func (t Token) units(whole uint64) uint64 {
	for range t.Decimals {
		whole *= 10
	}
	return whole
}

// tokenAccount is the content of a token program's account.
type tokenAccount struct {
	mint, owner Key
	amount      uint64
}

// tokenBalance is a token account of a transaction, with its index among the keys.
type tokenBalance struct {
	tokenAccount
	index   int
	program Key
}

// tokenAccountSize is the size of a token account's data.
const tokenAccountSize = 165

// isWrapped reports whether the tokens are wrapped coin: then the account holds as many lamports besides its rent.
func (a tokenAccount) isWrapped() bool { return a.mint == Tokens[0].Mint }

// data encodes the account: spl-token, state.rs, where options take four bytes.
func (a tokenAccount) data() []byte {
	const initialized = uint8(1)
	rentReserve := zeros(12)
	if a.isWrapped() {
		rentReserve = borsh(uint32(1), rent(tokenAccountSize))
	}
	// There is no delegate and no separate close authority.
	return padTo(tokenAccountSize, borsh(a.mint, a.owner, a.amount, zeros(36), initialized, rentReserve))
}

// mintData encodes a mint: spl-token, state.rs, 82 bytes with the decimals at 44 and no freeze authority.
func (t Token) mintData(supply uint64) []byte {
	const isSet, initialized = uint32(1), true
	return borsh(isSet, invented("mint authority"), supply, uint8(t.Decimals), initialized, zeros(36))
}

// extendedMint encodes a Token-2022 mint that carries its own metadata: the base padded to the length of an account,
// its kind, and extensions as type, length and value (spl-token-2022, extension/mod.rs).
func (t Token) extendedMint(supply uint64) []byte {
	const mintKind, metadataPointer, tokenMetadata = uint8(1), uint16(18), uint16(19)
	authority := invented("mint authority")
	metadata := borsh(authority, t.Mint, t.Name, t.Symbol, "", uint32(0))
	return borsh(raw(padTo(tokenAccountSize, t.mintData(supply))), mintKind,
		metadataPointer, uint16(64), authority, t.Mint, tokenMetadata, uint16(len(metadata)), raw(metadata))
}

// metadata encodes a Metaplex metadata account: mpl-token-metadata, Metadata, with names padded.
func (t Token) metadata() []byte {
	const metadataV1, nameSize, symbolSize, uriSize, allocated = uint8(4), 32, 10, 200, 679
	const noFee, noCreators, isSold, isMutable = uint16(0), uint8(0), false, true
	return padTo(allocated, borsh(metadataV1, invented("metadata authority"), t.Mint,
		padded(t.Name, nameSize), padded(t.Symbol, symbolSize), padded("", uriSize), noFee, noCreators, isSold, isMutable))
}

// uiAmount formats smallest units as a decimal number of whole tokens.
func uiAmount(amount uint64, decimals int) string {
	text := fmt.Sprintf("%0*d", decimals+1, amount)
	whole, fraction := text[:len(text)-decimals], strings.TrimRight(text[len(text)-decimals:], "0")
	return strings.TrimRight(whole+"."+fraction, ".")
}

// uiTokenAmount returns an amount as nodes show it; uiAmount is null for zero.
func (t Token) uiTokenAmount(amount uint64) object {
	text := uiAmount(amount, t.Decimals)
	var number any
	if amount > 0 {
		number, _ = strconv.ParseFloat(text, 64)
	}
	return object{
		"amount": strconv.FormatUint(amount, 10), "decimals": t.Decimals, "uiAmount": number, "uiAmountString": text,
	}
}
