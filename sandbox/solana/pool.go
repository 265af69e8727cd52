package solana

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// poolProgram is SPL's token swap with its constant-product curve: spl-token-swap 3.0.
var poolProgram = solana.TokenSwapProgramID

// Pool is a pool of two tokens.
type Pool struct {
	Address Key
	A, B    Token
	FeeBps  uint64 // of the input; the fee stays in the pool
}

// NewPool returns the only pool of two tokens with this fee.
func NewPool(a, b Token, feeBps uint64) Pool {
	return Pool{invented(fmt.Sprintf("pool of %s and %s for %d bps", a.Mint, b.Mint, feeBps)), a, b, feeBps}
}

// authority owns the pool's vaults.
func (p Pool) authority() Key { return pda(poolProgram, "", p.Address[:]) }

func (p Pool) vault(t Token) Key { return t.Wallet(p.authority()) }

// shares is the mint of pool shares; feeAccount would receive the owner's part of the fees, which is zero.
func (p Pool) shares() Key     { return invented("shares of " + p.Address.String()) }
func (p Pool) feeAccount() Key { return invented("fees of " + p.Address.String()) }

func (p Pool) has(t Token) bool { return p.A.Mint == t.Mint || p.B.Mint == t.Mint }

// other returns the token that the pool pays for a token.
func (p Pool) other(t Token) Token {
	if p.A.Mint == t.Mint {
		return p.B
	}
	return p.A
}

// data encodes the pool: SwapV1 of spl-token-swap, state.rs, 324 bytes.
func (p Pool) data() []byte {
	const version, isInitialized, constantProduct, size = uint8(1), true, uint8(0), 324
	_, bump := derive(poolProgram, p.Address[:])
	trade := [2]uint64{p.FeeBps, bps}
	none := [2]uint64{0, bps} // for owner, withdrawal and host fees
	return padTo(size, borsh(version, isInitialized, bump, tokenProgram, p.vault(p.A), p.vault(p.B), p.shares(),
		p.A.Mint, p.B.Mint, p.feeAccount(), trade, none, none, none, constantProduct))
}

// Stock adds a pool and its reserves before the ledger begins.
func (c *Chain) Stock(p Pool, a, b uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(p.Address, account{owner: poolProgram, data: p.data(), state: p})
	c.putTokens(p.vault(p.A), p.A, p.authority(), a)
	c.putTokens(p.vault(p.B), p.B, p.authority(), b)
	shares := Token{Mint: p.shares(), Decimals: 8, program: tokenProgram}
	c.put(shares.Mint, account{owner: tokenProgram, data: shares.mintData(1_000_000_000)})
	c.put(p.feeAccount(), account{owner: tokenProgram, data: tokenAccount{mint: shares.Mint, owner: p.authority()}.data()})
	c.pools = append(c.pools, p)
	slices.SortFunc(c.pools, func(p, q Pool) int { return cmp.Compare(p.Address.String(), q.Address.String()) })
	own := []Key{p.Address, p.authority(), p.vault(p.A), p.vault(p.B), p.shares(), p.feeAccount()}
	c.putTable(marketTable, marketAuthority, slices.Concat(c.tables[marketTable], own))
}

// marketAuthority may change the lookup table of the pools.
var marketAuthority = invented("market table authority")

// fee returns what the pool keeps of an amount, at least one.
func (p Pool) fee(amount uint64) uint64 {
	high, low := bits.Mul64(amount, p.FeeBps)
	fee, _ := bits.Div64(high, low, bps)
	if fee == 0 && p.FeeBps > 0 && amount > 0 {
		return 1
	}
	return fee
}

// give returns what the pool pays for an amount of a token: what keeps the product of both reserves, without the fee,
// from falling.
func (p Pool) give(state func(Key) *account, in Token, amount uint64) uint64 {
	here, _ := stateOf[tokenAccount](state(p.vault(in)))
	there, _ := stateOf[tokenAccount](state(p.vault(p.other(in))))
	traded := amount - p.fee(amount)
	after, overflows := bits.Add64(here.amount, traded, 0)
	if traded == 0 || overflows > 0 {
		return 0
	}
	high, low := bits.Mul64(there.amount, traded)
	given, _ := bits.Div64(high, low, after)
	return given
}

// poolSwap is the pool program's instruction to swap.
const poolSwap uint8 = 1

// swap returns the instruction that swaps tokens from one account of owner into another account.
func (p Pool) swap(in Token, owner, from, to Key, amount, least uint64) Instruction {
	out := p.other(in)
	return Instruction{
		Program: poolProgram,
		Accounts: []Meta{
			reads(p.Address), reads(p.authority()),
			{Key: owner, Signer: true},
			writes(from), writes(p.vault(in)), writes(p.vault(out)), writes(to), writes(p.shares()), writes(p.feeAccount()),
			reads(in.Mint), reads(out.Mint), reads(in.program), reads(out.program), reads(tokenProgram),
		},
		Data: borsh(poolSwap, amount, least),
	}
}

// Errors of the pool program: spl-token-swap, error.rs.
var (
	errNoPool       = custom(10, "IncorrectSwapAccount", "Address of the provided swap token account is incorrect")
	errPoolCall     = custom(14, "InvalidInstruction", "Invalid instruction")
	errPoolSlippage = custom(16, "ExceededSlippage", "Swap instruction exceeds desired slippage limit")
	errPoolNothing  = custom(17, "ZeroTradingTokens", "Given pool token amount results in zero trading tokens")
)

// swap executes the pool program's only instruction here.
func (i *invocation) swap(accounts []Meta, data []byte) {
	amount, least := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
	p, isPool := stateOf[Pool](i.account(accounts[0].Key))
	owner, from, to := accounts[2], accounts[3].Key, accounts[6].Key
	in := p.A
	if accounts[4].Key == p.vault(p.B) {
		in = p.B
	}
	out := p.other(in)
	i.require(isPool && accounts[4].Key == p.vault(in) && accounts[5].Key == p.vault(out), errNoPool)
	i.require(owner.Signer, errUnsigned)
	given := p.give(i.account, in, amount)
	i.require(given > 0, errPoolNothing)
	i.require(given >= least, errPoolSlippage)
	i.call(
		in.transferChecked(from, p.vault(in), owner.Key, amount),
		out.transferChecked(p.vault(out), to, p.authority(), given),
	)
}
