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

// data lays the account out: spl-token, state.rs, 165 bytes.
func (a tokenAccount) data() []byte {
	const initialized = 1
	data := borsh{}.key(a.mint).key(a.owner).u64(a.amount)
	data = append(data, make([]byte, 36)...) // no delegate
	data = data.u8(initialized)
	return append(data, make([]byte, 12+8+36)...) // not native, nothing delegated, no close authority
}

// wallet is the account where owner keeps a token: the associated one, or for the coin owner's own.
func (t Token) wallet(owner Key) Key {
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

// Instructions of the token program.
const (
	tokenTransfer           = 3
	tokenCloseAccount       = 9
	tokenTransferChecked    = 12
	tokenSyncNative         = 17
	tokenInitializeAccount3 = 18
)

// transfer moves an amount of a token from wallet to wallet.
func (t Token) transfer(from, to, owner Key, amount uint64) Instruction {
	if t.Mint == systemProgram {
		return transferLamports(from, to, amount)
	}
	in := Instruction{Program: t.program, run: func(i *invocation) error {
		i.log("Instruction: Transfer")
		return i.moveTokens(from, to, amount)
	}}
	in.Accounts = []Meta{writes(from), writes(to), {Key: owner, Signer: true}}
	in.Data = borsh{}.u8(tokenTransfer).u64(amount)
	if t.program == token2022Program {
		in.Accounts = []Meta{writes(from), reads(t.Mint), writes(to), {Key: owner, Signer: true}}
		in.Data = borsh{}.u8(tokenTransferChecked).u64(amount).u8(byte(t.Decimals))
	}
	return in
}

func (i *invocation) moveTokens(from, to Key, amount uint64) error {
	source, isToken := i.tokens(from)
	target, exists := i.tokens(to)
	if !isToken || !exists {
		return fmt.Errorf("transfer of tokens from %s to %s: not both are token accounts", from, to)
	}
	if source.amount < amount {
		i.log("Error: insufficient funds")
		return &refusal{1, "InsufficientFunds", "insufficient funds"}
	}
	source.amount -= amount
	i.update(from, source.data(), source)
	target, _ = i.tokens(to) // again: it may be the same account
	target.amount += amount
	i.update(to, target.data(), target)
	return nil
}

func (i *invocation) tokens(at Key) (tokenAccount, bool) {
	return stateOf[tokenAccount](i.account(at))
}

// openWallet makes owner's associated account unless it is there.
func (t Token) openWallet(payer, owner Key) Instruction {
	const createIdempotent = 1
	at := t.wallet(owner)
	return Instruction{
		Program:  associatedProgram,
		Accounts: []Meta{signs(payer), writes(at), reads(owner), reads(t.Mint), reads(systemProgram), reads(t.program)},
		Data:     borsh{}.u8(createIdempotent),
		run: func(i *invocation) error {
			i.log("CreateIdempotent")
			if _, exists := i.tokens(at); exists {
				return nil
			}
			return i.createTokens(payer, at, owner, t)
		},
	}
}

// createTokens makes an empty token account.
func (i *invocation) createTokens(payer, at, owner Key, t Token) error {
	account := tokenAccount{mint: t.Mint, owner: owner}
	if err := i.create(payer, at, t.program, account.data(), account); err != nil {
		return err
	}
	return i.call(Instruction{
		Program:  t.program,
		Accounts: []Meta{writes(at), reads(t.Mint)},
		Data:     borsh{}.u8(tokenInitializeAccount3).key(owner),
		run: func(i *invocation) error {
			i.log("Instruction: InitializeAccount3")
			return nil
		},
	})
}

// wrap funds owner's account of the wrapped coin with lamports.
func wrap(owner Key, lamports uint64) []Instruction {
	t := Tokens[0]
	at := t.wallet(owner)
	return []Instruction{
		t.openWallet(owner, owner),
		transferLamports(owner, at, lamports),
		{
			Program: tokenProgram, Accounts: []Meta{writes(at)}, Data: borsh{}.u8(tokenSyncNative),
			run: func(i *invocation) error {
				i.log("Instruction: SyncNative")
				account, _ := i.tokens(at)
				account.amount += lamports
				i.update(at, account.data(), account)
				return nil
			},
		},
	}
}

// closeAccount ends an emptied token account and gives its lamports to owner.
func (t Token) closeAccount(at, receiver, owner Key) Instruction {
	return Instruction{
		Program:  t.program,
		Accounts: []Meta{writes(at), writes(receiver), {Key: owner, Signer: true}},
		Data:     borsh{}.u8(tokenCloseAccount),
		run: func(i *invocation) error {
			i.log("Instruction: CloseAccount")
			lamports := i.account(at).lamports
			if err := i.move(at, receiver, lamports); err != nil {
				return err
			}
			i.written[at] = nil
			return nil
		},
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
