package solana

import (
	"fmt"
	"math/big"
)

// Programs of tokens: https://www.solana-program.com/docs/token, developers.metaplex.com/token-metadata.
var (
	tokenProgram      = known("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	token2022Program  = known("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
	associatedProgram = known("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
	metadataProgram   = known("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
)

// Token is a mint of the sandbox. The native coin is the zero key.
type Token struct {
	Mint     Key
	Symbol   string
	Name     string
	Decimals int

	program Key
}

// Native stands for the coin in orders.
var Native = Token{Symbol: "SOL", Name: "Solana", Decimals: 9}

// Symbols by which the sandbox calls its mints. BARE has no metadata anywhere.
const (
	usdc    = "USDC"
	wrapped = "SOL" // as on the chain, though it is the coin's symbol too
	jito    = "JitoSOL"
	paypal  = "PYUSD"
	bare    = "BARE"
)

// Tokens are the mints of the sandbox: real ones under their real addresses, and one made up.
var Tokens = []Token{
	{known("So11111111111111111111111111111111111111112"), wrapped, "Wrapped SOL", 9, tokenProgram},
	{known("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"), usdc, "USD Coin", 6, tokenProgram},
	{known("J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn"), jito, "Jito Staked SOL", 9, tokenProgram},
	{known("2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"), paypal, "PayPal USD", 6, token2022Program},
	{made("mint without metadata"), bare, "", 4, tokenProgram},
}

func tokenOf(mint Key) (Token, error) {
	for _, t := range Tokens {
		if t.Mint == mint {
			return t, nil
		}
	}
	return Token{}, fmt.Errorf("mint %s is not in the sandbox", mint)
}

// tokenAccount is what an account of a token program says.
type tokenAccount struct {
	mint, owner Key
	amount      uint64
}

// tokenBalance is a token account of a transaction, at an index of its keys.
type tokenBalance struct {
	tokenAccount
	index   int
	program Key
}

// tokenAccountSize is how long the data of a token account is.
const tokenAccountSize = 165

// isWrapped reports whether the tokens are the coin: then there are as many lamports on the account, beside its rent.
func (a tokenAccount) isWrapped() bool { return a.mint == Tokens[0].Mint }

// data lays the account out: spl-token, state.rs.
func (a tokenAccount) data() []byte {
	const initialized = 1
	data := borsh{}.key(a.mint).key(a.owner).u64(a.amount)
	data = append(data, make([]byte, 36)...) // no delegate
	data = data.u8(initialized)
	if a.isWrapped() {
		data = data.u32(1).u64(rent(tokenAccountSize))
	} else {
		data = append(data, make([]byte, 12)...)
	}
	return append(data, make([]byte, 8+36)...) // nothing delegated, no close authority
}

// Wallet is the account where owner keeps a token: the associated one, or for the coin owner's own.
func (t Token) Wallet(owner Key) Key {
	if t.Mint == systemProgram {
		return owner
	}
	return pda(associatedProgram, owner[:], t.program[:], t.Mint[:])
}

// mintData lays a mint out: spl-token, state.rs, 82 bytes with the decimals at 44.
func (t Token) mintData(supply uint64) borsh {
	data := borsh{}.u32(1).key(made("mint authority")).u64(supply).u8(byte(t.Decimals)).bool(true)
	return append(data, make([]byte, 36)...) // no freeze authority
}

// extendedMint is a mint of Token-2022 that carries its own metadata: the base padded to the length of
// an account, its kind, and extensions as type, length and value (spl-token-2022, extension/mod.rs).
func (t Token) extendedMint(supply uint64) []byte {
	const baseLength, mintKind, metadataPointer, tokenMetadata = 165, 1, 18, 19
	authority := made("mint authority")
	data := append(t.mintData(supply), make([]byte, baseLength-82)...).u8(mintKind)
	data = data.u16(metadataPointer).u16(64).key(authority).key(t.Mint)
	metadata := borsh{}.key(authority).key(t.Mint).text(t.Name).text(t.Symbol).text("").u32(0)
	return data.u16(tokenMetadata).u16(uint16(len(metadata))).raw(metadata)
}

// metadata lays a Metaplex metadata account out: mpl-token-metadata, Metadata, with names padded.
func (t Token) metadata() []byte {
	const metadataV1, nameSize, symbolSize, uriSize, allocated = 4, 32, 10, 200, 679
	data := borsh{}.u8(metadataV1).key(made("metadata authority")).key(t.Mint)
	data = data.padded(t.Name, nameSize).padded(t.Symbol, symbolSize).padded("", uriSize)
	data = data.u16(0).u8(0).bool(false).bool(true) // no fee, no creators, no sale, mutable
	return append(data, make([]byte, allocated-len(data))...)
}

// transfer moves an amount of a token from wallet to wallet.
func (t Token) transfer(from, to, owner Key, amount uint64) Instruction {
	if t.Mint == systemProgram {
		return transferLamports(from, to, amount)
	}
	if t.program == token2022Program {
		return t.transferChecked(from, to, owner, amount)
	}
	return Instruction{
		Program:  t.program,
		Accounts: []Meta{writes(from), writes(to), {Key: owner, Signer: true}},
		Data:     borsh{}.u8(tokenTransfer).u64(amount),
	}
}

func (i *invocation) tokens(at Key) (tokenAccount, bool) {
	return stateOf[tokenAccount](i.account(at))
}

// transferChecked moves an amount of a token whose decimals the sender knows.
func (t Token) transferChecked(from, to, owner Key, amount uint64) Instruction {
	return Instruction{
		Program:  t.program,
		Accounts: []Meta{writes(from), reads(t.Mint), writes(to), {Key: owner, Signer: true}},
		Data:     borsh{}.u8(tokenTransferChecked).u64(amount).u8(byte(t.Decimals)),
	}
}

// openWallet makes owner's associated account unless it is there.
func (t Token) openWallet(payer, owner Key) Instruction {
	return Instruction{
		Program: associatedProgram,
		Accounts: []Meta{
			signs(payer), writes(t.Wallet(owner)), reads(owner), reads(t.Mint), reads(systemProgram), reads(t.program),
		},
		Data: borsh{}.u8(associatedCreateIdempotent),
	}
}

// createTokens makes an empty token account.
func (i *invocation) createTokens(payer, at, owner Key, t Token) error {
	if err := i.create(payer, at, t.program, make([]byte, tokenAccountSize), nil); err != nil {
		return err
	}
	return i.call(Instruction{
		Program:  t.program,
		Accounts: []Meta{writes(at), reads(t.Mint)},
		Data:     borsh{}.u8(tokenInitializeAccount3).key(owner),
	})
}

// wrap funds owner's account of the wrapped coin with lamports.
func wrap(owner Key, lamports uint64) []Instruction {
	t := Tokens[0]
	at := t.Wallet(owner)
	return []Instruction{
		t.openWallet(owner, owner),
		transferLamports(owner, at, lamports),
		syncNative(at),
	}
}

// syncNative has an account of the wrapped coin count the lamports that lie on it.
func syncNative(at Key) Instruction {
	return Instruction{Program: tokenProgram, Accounts: []Meta{writes(at)}, Data: borsh{}.u8(tokenSyncNative)}
}

// closeAccount ends an emptied token account and gives its lamports to owner.
func (t Token) closeAccount(at, receiver, owner Key) Instruction {
	return Instruction{
		Program:  t.program,
		Accounts: []Meta{writes(at), writes(receiver), {Key: owner, Signer: true}},
		Data:     borsh{}.u8(tokenCloseAccount),
	}
}

// uiAmount writes smallest units as a decimal number of whole tokens.
func uiAmount(amount uint64, decimals int) string {
	whole := new(big.Rat).SetFrac(new(big.Int).SetUint64(amount), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
	text := whole.FloatString(decimals)
	if decimals == 0 {
		return text
	}
	for text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return text
}
