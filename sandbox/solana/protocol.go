package solana

import (
	"github.com/gagliardetto/solana-go"
)

// Programs of the runtime and of tokens: https://docs.anza.xyz/runtime/programs,
// https://www.solana-program.com/docs/token, developers.metaplex.com/token-metadata.
var (
	systemProgram        = solana.SystemProgramID
	nativeLoader         = solana.MPK("NativeLoader1111111111111111111111111111111")
	upgradeableLoader    = solana.BPFLoaderUpgradeableProgramID
	computeBudgetProgram = solana.ComputeBudget
	lookupTableProgram   = solana.AddressLookupTableProgramID
	instructionsSysvar   = solana.SysVarInstructionsPubkey
	sysvarOwner          = solana.MPK("Sysvar1111111111111111111111111111111111111")
	tokenProgram         = solana.TokenProgramID
	token2022Program     = solana.Token2022ProgramID
	associatedProgram    = solana.SPLAssociatedTokenAccountProgramID
	metadataProgram      = solana.TokenMetadataProgramID
)

// The order protocol's programs: docs.debridge.com, deployed contracts.
var (
	sourceProgram      = solana.MPK("src5qyZHqTqecJV4aY6Cb6zDZLMDzrDKKezs22MPHr4")
	destinationProgram = solana.MPK("dst5MGcFPoBeREFAA5E3tU5ij8m5uVYwkzkSAbsLbNo")
	debridgeProgram    = solana.MPK("DEbrdGj3HsRsAzx6uH4MKyREKxVAfBydijLUF3ygsFfh")
	settingsProgram    = solana.MPK("DeSetTwWhjZq6Pz9Kfdo1KoS5NqtsM6G8ERbX4SSCSft")
	// Executor runs external calls: orders with one are delivered to it.
	Executor = solana.MPK("exe59FS5cojZkPJVDFDV8RnXCC7wd6yoBjsUtqH7Zai")

	// forwarderProgram represents third-party programs that also create orders.
	forwarderProgram = invented("program forwarder")
)

// The protocol's fees: 15 000 000 lamports and 4 basis points of the give amount.
const (
	fixFee         = uint64(15_000_000)
	transferFeeBps = 4
	bps            = 10_000
)

// Accounts that belong to a program as a whole. Seeds: @debridge-finance/solana-utils.
var (
	sourceState       = pda(sourceProgram, "STATE")
	feeLedger         = pda(sourceProgram, "FEE LEDGER")
	destinationState  = pda(destinationProgram, "STATE")
	executorState     = pda(Executor, "STATE")
	destinationSender = pda(destinationProgram, "AUTHORIZED_DST_NATIVE_SENDER")
	messageNonces     = pda(debridgeProgram, "NONCE")
	debridgeState     = pda(settingsProgram, "DEBRIDGE_STATE")
	debridgeFees      = invented("debridge fee beneficiary")
)

func giveOrderState(id [32]byte) Key  { return pda(sourceProgram, "GIVE_ORDER_STATE", id[:]) }
func giveOrderWallet(id [32]byte) Key { return pda(sourceProgram, "GIVE_ORDER_WALLET", id[:]) }
func makerNonces(maker Key) Key       { return pda(sourceProgram, "NONCE", maker[:]) }
func feeLedgerWallet(mint Key) Key    { return pda(sourceProgram, "FEE_LEDGER_WALLET", mint[:]) }

func takeOrderState(id [32]byte) Key { return pda(destinationProgram, "TAKE_ORDER_STATE", id[:]) }

func takeOrderPatch(id [32]byte) Key      { return pda(destinationProgram, "TAKE_ORDER_PATCH", id[:]) }
func submissionAccount(id [32]byte) Key   { return pda(debridgeProgram, "SUBMISSION", id[:]) }
func submissionAuthority(account Key) Key { return pda(debridgeProgram, "SUBMISSION_AUTH", account[:]) }

func metadataAccount(mint Key) Key {
	return pda(metadataProgram, "metadata", metadataProgram[:], mint[:])
}
func nonceData(n uint64) []byte { return anchor("account", "NonceStorage", n) }

// takeChainSender is the account that holds the accepted sender of messages from a take chain.
func takeChainSender(chain uint64) Key {
	return pda(sourceProgram, "AUTHORIZED_NATIVE_SENDER", numberWord(chain))
}

// sourceOn is the account that holds the DlnSource of a give chain.
func sourceOn(chain uint64) Key {
	return pda(destinationProgram, "AUTHORIZED_SRC_CONTRACT", numberWord(chain))
}

// foreignContract is the content of an account for a contract on another chain.
type foreignContract struct{ address []byte }

// Address lookup tables, with the accounts that most order transactions use and with those of the pools.
var (
	orderTable  = solana.MPK("Z9SwCHdnxCpAEHdTewMXqZedbQBuBpQr16G9yedAU9q") // of @debridge-finance/dln-client
	marketTable = invented("market table")
)

// referralProgram is the program of referral accounts. There is one such account, of a project with accounts for the
// wrapped coin and USDC.
var (
	referralProgram = solana.MPK("REFER4ZgmyYx9c6He5XfaTMiGfdLwRnkV4RPp9t9iF3")
	Referral        = invented("referral account")
	ReferralProject = invented("referral project")
)

// supply is what each mint has issued, in smallest units: more than the sandbox hands out.
const supply = 1 << 62

// genesis places everything that is on the chain before history begins.
func (c *Chain) genesis() {
	deployed := []Key{sourceProgram, destinationProgram, debridgeProgram, settingsProgram, Executor}
	for _, at := range append(deployed,
		forwarderProgram, tokenProgram, token2022Program, associatedProgram, metadataProgram,
		poolProgram, jupiterProgram, dflowProgram,
	) {
		const program = uint32(2)
		code := pda(upgradeableLoader, "", at[:])
		c.put(at, account{owner: upgradeableLoader, data: borsh(program, code), executable: true})
	}
	for _, builtin := range []Key{systemProgram, computeBudgetProgram, lookupTableProgram} {
		c.put(builtin, account{owner: nativeLoader, lamports: 1, executable: true})
	}
	c.put(instructionsSysvar, account{owner: sysvarOwner, lamports: 1})
	const isRefunded, isWorking, working = false, true, uint8(0)
	authority := invented("protocol authority")
	c.put(sourceState, account{owner: sourceProgram, data: anchor(
		"account", "State", authority, fixFee, uint64(transferFeeBps), isRefunded, authority, uint8(255), authority, isWorking,
	)})
	// Two oracles, one of which must sign, and thresholds per time slot, in front of the fees as on the real chain.
	var oracles [4 + 2*20 + 4 + 20 + 1 + 8 + 4*4 + 8]byte
	oracles[0], oracles[44], oracles[68] = 2, 1, 1
	c.put(debridgeState, account{owner: settingsProgram, data: anchor(
		"account", "State", working, authority, authority, debridgeFees, raw(oracles[:]), uint64(messageFee), uint64(0),
	)})
	c.put(feeLedger, account{owner: sourceProgram, data: anchor("account", "FeeLedger")})
	c.put(destinationState, account{owner: destinationProgram, data: anchor("account", "State")})
	c.put(messageNonces, account{owner: debridgeProgram, data: nonceData(0), state: uint64(0)})
	c.put(debridgeFees, account{owner: systemProgram, lamports: rent(0)})

	shared := append([]Key{
		sourceState, feeLedger, destinationState, destinationSender, messageNonces, debridgeState, debridgeFees,
		instructionsSysvar, tokenProgram, token2022Program, associatedProgram,
	}, deployed...)
	market := []Key{
		systemProgram, tokenProgram, token2022Program, associatedProgram, poolProgram,
		jupiterAuthority, jupiterEvents, dflowAuthority, dflowEvents,
	}
	for _, t := range Tokens {
		c.putMint(t)
		c.putTokens(feeLedgerWallet(t.Mint), t, feeLedger, 0)
		c.putTokens(t.Wallet(jupiterAuthority), t, jupiterAuthority, 0)
		shared = append(shared, t.Mint, feeLedgerWallet(t.Mint))
		market = append(market, t.Mint, t.Wallet(jupiterAuthority))
	}
	c.put(Referral, account{owner: referralProgram, data: zeros(8)})
	for _, t := range Tokens[:2] {
		c.putTokens(pda(referralProgram, "referral_ata", Referral[:], t.Mint[:]), t, ReferralProject, 0)
	}
	c.putTable(orderTable, invented("lookup table authority"), append(shared, sharedBySender...))
	c.putTable(marketTable, marketAuthority, market)
}

// putTable places an address lookup table that holds keys: solana address-lookup-table-program, state.rs.
func (c *Chain) putTable(at, authority Key, keys []Key) {
	const kind, neverDeactivated, lastExtended = uint32(1), ^uint64(0), uint64(firstSlot - 1)
	const startIndex, padding = uint8(0), uint16(0)
	data := borsh(kind, neverDeactivated, lastExtended, startIndex, &authority, padding, keys)
	c.tables[at] = keys
	c.put(at, account{owner: lookupTableProgram, data: data})
}

func (c *Chain) putMint(t Token) {
	data := t.mintData(supply)
	if t.program == token2022Program {
		data = t.extendedMint(supply)
	}
	c.put(t.Mint, account{owner: t.program, data: data})
	if t.program == tokenProgram && t.Name != "" {
		c.put(metadataAccount(t.Mint), account{owner: metadataProgram, data: t.metadata()})
	}
}

// putTokens places a token account before the ledger begins.
func (c *Chain) putTokens(at Key, t Token, owner Key, amount uint64) {
	held := tokenAccount{mint: t.Mint, owner: owner, amount: amount}
	lamports := rent(tokenAccountSize)
	if held.isWrapped() {
		lamports += amount
	}
	c.put(at, account{owner: t.program, lamports: lamports, data: held.data(), state: held})
}

// Connect registers the protocol's contracts of another chain with the programs.
func (c *Chain) Connect(chain uint64, source, destination []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(sourceOn(chain), account{
		owner: destinationProgram, state: foreignContract{source}, data: anchor("account", "AuthorizedSrcContract", source),
	})
	const isSupported, noOwnFee, bump = uint8(1), uint16(0), uint8(255)
	c.put(chainSupport(chain), account{owner: settingsProgram, data: anchor(
		"account", "ChainSupportInfo", isSupported, noOwnFee, uint16(len(source)), bump,
	)})
	c.put(takeChainSender(chain), account{
		owner: sourceProgram, state: foreignContract{destination},
		data: anchor("account", "AuthorizedNativeSender", destination),
	})
}

// Fund gives an account lamports and an amount of every token, in whole units, before history begins.
func (c *Chain) Fund(owner Key, lamports, tokens uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(owner, account{owner: systemProgram, lamports: lamports})
	for _, t := range Tokens {
		c.putTokens(t.Wallet(owner), t, owner, t.units(tokens))
	}
}
