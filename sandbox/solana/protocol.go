package solana

import "encoding/binary"

// The order protocol's programs: docs.debridge.com, deployed contracts.
var (
	sourceProgram      = known("src5qyZHqTqecJV4aY6Cb6zDZLMDzrDKKezs22MPHr4")
	destinationProgram = known("dst5MGcFPoBeREFAA5E3tU5ij8m5uVYwkzkSAbsLbNo")
	debridgeProgram    = known("DEbrdGj3HsRsAzx6uH4MKyREKxVAfBydijLUF3ygsFfh")
	settingsProgram    = known("DeSetTwWhjZq6Pz9Kfdo1KoS5NqtsM6G8ERbX4SSCSft")
	executorProgram    = known("exe59FS5cojZkPJVDFDV8RnXCC7wd6yoBjsUtqH7Zai")

	// forwarderProgram stands for the programs of others through which orders are created too.
	forwarderProgram = made("program forwarder")
)

// What the protocol's programs charge: 15 000 000 lamports and 4 basis points of what is given.
const (
	fixFee         = 15_000_000
	transferFeeBps = 4
	bps            = 10_000
)

// Accounts that belong to the programs as a whole. Seeds: @debridge-finance/solana-utils.
var (
	sourceState       = pda(sourceProgram, []byte("STATE"))
	feeLedger         = pda(sourceProgram, []byte("FEE LEDGER"))
	destinationState  = pda(destinationProgram, []byte("STATE"))
	destinationSender = pda(destinationProgram, []byte("AUTHORIZED_DST_NATIVE_SENDER"))
	messageNonces     = pda(debridgeProgram, []byte("NONCE"))
	debridgeState     = pda(settingsProgram, []byte("STATE"))
	debridgeFees      = made("debridge fee beneficiary")
)

func giveOrderState(id [32]byte) Key {
	return pda(sourceProgram, []byte("GIVE_ORDER_STATE"), id[:])
}

func giveOrderWallet(id [32]byte) Key {
	return pda(sourceProgram, []byte("GIVE_ORDER_WALLET"), id[:])
}

func makerNonces(maker Key) Key { return pda(sourceProgram, []byte("NONCE"), maker[:]) }

func feeLedgerWallet(mint Key) Key {
	return pda(sourceProgram, []byte("FEE_LEDGER_WALLET"), mint[:])
}

// takenBy is who may bring word from a take chain.
func takenBy(chain uint64) Key {
	return pda(sourceProgram, []byte("AUTHORIZED_NATIVE_SENDER"), chainSeed(chain))
}

func takeOrderState(id [32]byte) Key {
	return pda(destinationProgram, []byte("TAKE_ORDER_STATE"), id[:])
}

func takeOrderPatch(id [32]byte) Key {
	return pda(destinationProgram, []byte("TAKE_ORDER_PATCH"), id[:])
}

// sourceOn is the DlnSource of a give chain.
func sourceOn(chain uint64) Key {
	return pda(destinationProgram, []byte("AUTHORIZED_SRC_CONTRACT"), chainSeed(chain))
}

func submissionAccount(id [32]byte) Key { return pda(debridgeProgram, []byte("SUBMISSION"), id[:]) }

func submissionAuthority(submission Key) Key {
	return pda(debridgeProgram, []byte("SUBMISSION_AUTH"), submission[:])
}

// contractOn is the account of a contract on another chain, with the contract's address.
type contractOn struct{ address []byte }

// lookupTable is the address lookup table of the accounts that most transactions name.
var lookupTable = made("lookup table")

// found places everything that was on the chain before history.
func (c *Chain) found() {
	for _, program := range []Key{
		sourceProgram, destinationProgram, debridgeProgram, settingsProgram, executorProgram, forwarderProgram,
		tokenProgram, token2022Program, associatedProgram, metadataProgram, poolProgram, jupiterProgram, dflowProgram,
	} {
		c.newProgram(program)
	}
	for _, builtin := range []Key{systemProgram, computeBudgetProgram, lookupTableProgram} {
		c.put(builtin, held{owner: nativeLoader, lamports: 1, executable: true})
	}
	c.put(instructionsSysvar, held{owner: known("Sysvar1111111111111111111111111111111111111"), lamports: 1})
	c.put(sourceState, held{owner: sourceProgram, data: anchor("account", "State").u64(fixFee).u16(transferFeeBps)})
	c.put(feeLedger, held{owner: sourceProgram, data: anchor("account", "FeeLedger")})
	c.put(destinationState, held{owner: destinationProgram, data: anchor("account", "State")})
	c.put(messageNonces, held{owner: debridgeProgram, data: anchor("account", "NonceStorage").u64(0), state: uint64(0)})
	c.put(debridgeFees, held{owner: systemProgram, lamports: rent(0)})
	for _, t := range Tokens {
		c.newToken(t)
	}
	common := []Key{
		sourceState, feeLedger, destinationState, destinationSender, messageNonces, debridgeState, debridgeFees,
		instructionsSysvar, tokenProgram, token2022Program, associatedProgram,
		sourceProgram, destinationProgram, debridgeProgram, settingsProgram, executorProgram,
	}
	for _, t := range Tokens {
		common = append(common, t.Mint, feeLedgerWallet(t.Mint))
	}
	c.newTable(lookupTable, made("lookup table authority"), append(common, sharedBySender...)...)
	market := []Key{
		systemProgram, tokenProgram, token2022Program, associatedProgram, poolProgram, jupiterAuthority(), jupiterEvents(), dflowAuthority(),
	}
	for _, t := range Tokens {
		c.putTokens(t.Wallet(jupiterAuthority()), t, jupiterAuthority(), 0)
		market = append(market, t.Mint, t.Wallet(jupiterAuthority()))
	}
	c.newTable(marketTable, marketAuthority, market...)
}

// supply is what each mint has issued, in smallest units: more than the sandbox gives out.
const supply = 1 << 62

func (c *Chain) newToken(t Token) {
	data := []byte(t.mintData(supply))
	if t.program == token2022Program {
		data = t.extendedMint(supply)
	}
	c.put(t.Mint, held{owner: t.program, data: data})
	if t.program == tokenProgram && t.Name != "" {
		at := pda(metadataProgram, []byte("metadata"), metadataProgram[:], t.Mint[:])
		c.put(at, held{owner: metadataProgram, data: t.metadata()})
	}
	c.putTokens(feeLedgerWallet(t.Mint), t, feeLedger, 0)
}

// Connect makes the protocol's contracts of another chain known to the programs.
func (c *Chain) Connect(chain uint64, source, destination []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(sourceOn(chain), held{
		owner: destinationProgram, state: contractOn{source},
		data: anchor("account", "AuthorizedSrcContract").bytes(source),
	})
	c.put(takenBy(chain), held{
		owner: sourceProgram, state: contractOn{destination},
		data: anchor("account", "AuthorizedNativeSender").bytes(destination),
	})
}

// Fund gives an account lamports and an amount of every token, in whole units, before history begins.
func (c *Chain) Fund(owner Key, lamports, tokens uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(owner, held{owner: systemProgram, lamports: lamports})
	for _, t := range Tokens {
		amount := tokens
		for range t.Decimals {
			amount *= 10
		}
		c.putTokens(t.Wallet(owner), t, owner, amount)
	}
}

// putTokens places a token account when the ledger begins.
func (c *Chain) putTokens(at Key, t Token, owner Key, amount uint64) {
	account := tokenAccount{mint: t.Mint, owner: owner, amount: amount}
	lamports := rent(tokenAccountSize)
	if account.isWrapped() {
		lamports += amount
	}
	c.put(at, held{owner: t.program, lamports: lamports, data: account.data(), state: account})
}

// sizeTo pads an account's data to what is allocated for it.
func sizeTo(size int, data borsh) []byte { return append(data, make([]byte, size-len(data))...) }

func nonceData(n uint64) borsh {
	return binary.LittleEndian.AppendUint64(anchor("account", "NonceStorage"), n)
}
