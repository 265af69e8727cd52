package solana

import (
	"fmt"
	"math/big"
	"time"
)

// giveOrder is an order on its give side.
type giveOrder struct {
	terms     Terms
	token     Token
	status    Status
	given     uint64 // net, patches included
	percent   uint64
	affiliate *Affiliate
	created   Signature
	slot      uint64
	metadata  []byte
}

// Affiliate receives a share of what the maker gives.
type Affiliate struct {
	Beneficiary Key
	Amount      uint64
}

// Creation is a maker's order to create.
type Creation struct {
	Maker  Account
	Payer  Account // of the transaction; zero: the maker
	Give   Token
	Amount uint64 // gross: fees are deducted from it
	Take   Offer

	Receiver, Authority, AllowedTaker, ExternalCall []byte

	PatchAuthority    Key // zero: the maker
	CancelBeneficiary Key
	Affiliate         *Affiliate
	Referral          *uint32
	// Nonce replaces the maker's counter. Zero uses the counter, and the order then carries no metadata.
	Nonce    uint64
	Metadata []byte
}

// terms returns the terms of the order that the creation makes.
func (o Creation) terms(nonce uint64) Terms {
	t := Terms{
		Nonce: nonce, Maker: o.Maker.Key[:],
		GiveChain: big.NewInt(ID), GiveToken: o.Give.Mint[:], GiveAmount: new(big.Int).SetUint64(o.net()),
		TakeChain: new(big.Int).SetUint64(o.Take.Chain), TakeToken: o.Take.Token, TakeAmount: o.Take.Amount,
		Receiver: o.Receiver, PatchAuthority: o.Maker.Key[:], Authority: o.Authority,
		AllowedTaker: o.AllowedTaker, ExternalCall: o.ExternalCall,
	}
	if o.PatchAuthority != (Key{}) {
		t.PatchAuthority = o.PatchAuthority[:]
	}
	if o.CancelBeneficiary != (Key{}) {
		t.CancelBeneficiary = o.CancelBeneficiary[:]
	}
	return t
}

func (o Creation) percentFee() uint64 { return o.Amount * transferFeeBps / bps }

func (o Creation) net() uint64 {
	return o.Amount - o.percentFee() - o.Affiliate.amount()
}

// amount returns the affiliate's share, zero without an affiliate.
func (a *Affiliate) amount() uint64 {
	if a == nil {
		return 0
	}
	return a.Amount
}

// Create creates orders, all in one transaction. A doomed way leaves a failed transaction and no order.
func (c *Chain) Create(at time.Time, w Way, creations ...Creation) ([]Order, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maker, payer := creations[0].Maker, creations[0].Payer
	if payer.Key == (Key{}) {
		payer = maker
	}
	var instructions []Instruction
	orders, counted := make([]Order, len(creations)), uint64(0)
	for n, o := range creations {
		if o.Give.Mint == Tokens[0].Mint {
			instructions = append(instructions, wrap(maker.Key, o.Amount)...)
		}
		nonce := o.Nonce
		if nonce == 0 {
			nonce, _ = stateOf[uint64](c.accounts[makerNonces(maker.Key)])
			nonce += counted
			counted++
		}
		orders[n] = Order{Terms: o.terms(nonce)}
		instructions = append(instructions, o.createOrder(nonce))
	}
	d := w.draft(payer, instructions...)
	d.signers = []Account{maker}
	signature, err := c.send(at, d)
	if err != nil && !w.Doomed {
		return nil, fmt.Errorf("create order: %w", err)
	}
	for n := range orders {
		orders[n].Creation = signature
	}
	return orders, nil
}

// createOrder returns the instruction create_order, or create_order_with_nonce if the maker supplies the nonce.
func (o Creation) createOrder(nonce uint64) Instruction {
	t := o.terms(nonce)
	id, maker := t.ID(), o.Maker.Key
	accounts := []Meta{
		signs(maker), reads(sourceState), reads(o.Give.Mint), writes(giveOrderState(id)),
		reads(takeChainSender(o.Take.Chain)), writes(o.Give.Wallet(maker)), writes(giveOrderWallet(id)),
		writes(makerNonces(maker)), writes(feeLedgerWallet(o.Give.Mint)),
		reads(systemProgram), reads(o.Give.programOrDefault()), reads(associatedProgram),
	}
	name, args := "create_order", []any{
		o.Amount, o.Take.borsh(), o.Receiver, optional(o.ExternalCall), Key(t.PatchAuthority), optionalKey(o.CancelBeneficiary),
		o.Authority, optional(o.AllowedTaker), o.Affiliate, o.Referral,
	}
	if o.Nonce != 0 {
		name, args = "create_order_with_nonce", append(args, o.Nonce, o.Metadata)
	}
	return anchored(sourceProgram, name, accounts, args...)
}

// createArgs are the arguments of create_order.
type createArgs struct {
	Amount            uint64
	Take              offerArgs
	Receiver          []byte
	ExternalCall      *[]byte `bin:"optional"`
	PatchAuthority    Key
	CancelBeneficiary *Key `bin:"optional"`
	Authority         []byte
	AllowedTaker      *[]byte    `bin:"optional"`
	Affiliate         *Affiliate `bin:"optional"`
	Referral          *uint32    `bin:"optional"`
}

// numberedArgs are the arguments of create_order_with_nonce.
type numberedArgs struct {
	Order    createArgs
	Nonce    uint64
	Metadata []byte
}

// creation converts the arguments to the maker's Creation.
func (a createArgs) creation(maker Key, give Token) Creation {
	o := Creation{
		Maker: Account{Key: maker}, Give: give, Amount: a.Amount, Take: a.Take.offer(), Receiver: a.Receiver,
		PatchAuthority: a.PatchAuthority, Authority: a.Authority, Affiliate: a.Affiliate, Referral: a.Referral,
	}
	if a.ExternalCall != nil {
		o.ExternalCall = *a.ExternalCall
	}
	if a.CancelBeneficiary != nil {
		o.CancelBeneficiary = *a.CancelBeneficiary
	}
	if a.AllowedTaker != nil {
		o.AllowedTaker = *a.AllowedTaker
	}
	return o
}

// createOrder executes create_order, with the nonce from the maker's counter.
func (i *invocation) createOrder(accounts []Meta, data []byte) {
	var args createArgs
	i.read(data, &args)
	o := args.creation(accounts[0].Key, i.given(accounts))
	nonce, _ := stateOf[uint64](i.account(makerNonces(o.Maker.Key)))
	i.open(o, nonce, accounts)
}

func (i *invocation) createOrderWithNonce(accounts []Meta, data []byte) {
	var args numberedArgs
	i.read(data, &args)
	o := args.Order.creation(accounts[0].Key, i.given(accounts))
	o.Nonce, o.Metadata = args.Nonce, args.Metadata
	i.open(o, o.Nonce, accounts)
}

// given returns the token of a creation's accounts.
func (i *invocation) given(accounts []Meta) Token {
	mint, program := accounts[2].Key, accounts[10].Key
	t, err := TokenAt(mint)
	if mint == Native.Mint {
		t, err = Native, nil
	}
	i.check(err == nil, 3012, "AccountNotInitialized", "The program expected this account to be already initialized")
	isRight := program == t.programOrDefault() && accounts[9].Key == systemProgram && accounts[11].Key == associatedProgram
	i.check(isRight, 3008, "InvalidProgramId", "Program ID was not as expected")
	return t
}

// open executes a creation with the accounts of its instruction.
func (i *invocation) open(o Creation, nonce uint64, accounts []Meta) {
	maker := accounts[0]
	i.checkSigner(maker)
	taken := o.Affiliate.amount() + o.percentFee()
	i.check(o.Amount >= taken && taken >= o.percentFee(), 6004, "OverflowError", "Incoming data resulted in match-overflow error.")
	t := o.terms(nonce)
	id := t.ID()
	i.checkAddress(accounts[1], sourceState)
	i.checkAddress(accounts[4], takeChainSender(o.Take.Chain))
	peer, isSupported := stateOf[foreignContract](i.account(accounts[4].Key))
	i.check(isSupported, 3012, "AccountNotInitialized", "The program expected this account to be already initialized")
	i.check(accounts[3].Key == giveOrderState(id), 6000, "GiveOrderStateWrongPubkey",
		"Order state-account have wrong pubkey. Perhaps you miscalculated order_id.")
	i.check(accounts[6].Key == giveOrderWallet(id), 6002, "GiveOrderWalletWrongPubkey",
		"Order wallet-account have wrong pubkey. Perhaps you miscalculated order_id.")
	i.checkAddress(accounts[7], makerNonces(maker.Key))
	i.check(accounts[8].Key == feeLedgerWallet(o.Give.Mint), 6022, "FeeLedgerWalletWrongKey", "Fee ledger wallet pubkey miscalculated")
	size := len(peer.address)
	i.check(len(o.Receiver) == size, 6014, "BadReceiverDstSize", "Wrong size of receiver address for this chain")
	i.check(len(o.Authority) == size, 6015, "BadOrderAuthorityDstSize", "Wrong size of order authority address for this chain")
	isTaker := len(o.AllowedTaker) == 0 || len(o.AllowedTaker) == size
	i.check(isTaker, 6016, "BadAllowedTakerDst", "Wrong size of allowed taker address for this chain")
	i.keep(o, t, accounts[5].Key)
}

// keep transfers what a checked creation gives from the maker's wallet and announces the order.
func (i *invocation) keep(o Creation, t Terms, from Key) {
	id, maker := t.ID(), o.Maker.Key
	state, wallet := giveOrderState(id), giveOrderWallet(id)
	i.count(maker, o.Nonce)
	g := giveOrder{
		terms: t, token: o.Give, status: Created, given: o.net(), percent: o.percentFee(),
		affiliate: o.Affiliate, created: i.tx.Signatures[0], slot: i.tx.slot, metadata: o.Metadata,
	}
	i.create(maker, state, sourceProgram, g.data(), g)
	i.call(transferLamports(maker, state, fixFee))
	if !o.Give.isNative() {
		i.createTokens(maker, wallet, state, o.Give)
	}
	i.call(o.Give.transfer(from, wallet, maker, o.Amount))
	i.emit("CreatedOrder", t.borsh(), fixFee, g.percent)
	i.emit("CreatedOrderId", id)
}

// count opens the maker's counter, and advances it if the order takes its nonce from there.
func (i *invocation) count(maker Key, own uint64) {
	at := makerNonces(maker)
	if i.account(at) == nil {
		i.create(maker, at, sourceProgram, nonceData(0), uint64(0))
	}
	if own == 0 {
		used, _ := stateOf[uint64](i.account(at))
		i.update(at, nonceData(used+1), used+1)
	}
}

// data encodes a GiveOrderState, whose content becomes shorter when the order is claimed.
func (g giveOrder) data() []byte {
	const size = 176
	const open, claimedUnlock, claimedCancel, noAffiliate = uint8(0), uint8(1), uint8(2), uint8(0)
	var content raw
	switch g.status {
	case ClaimedUnlock:
		content = borsh(claimedUnlock, g.affiliate)
	case ClaimedCancel:
		content = borsh(claimedCancel, noAffiliate)
	default:
		content = borsh(open, &g.given, new(fixFee), &g.percent, g.affiliate,
			optionalKey(keyOf(g.terms.CancelBeneficiary)), raw(g.terms.PatchAuthority), word(g.terms.TakeChain))
	}
	id := g.terms.ID()
	_, bump := derive(sourceProgram, []byte("GIVE_ORDER_STATE"), id[:])
	_, walletBump := derive(sourceProgram, []byte("GIVE_ORDER_WALLET"), id[:])
	return padTo(size, anchor("account", "GiveOrderState", content, bump, walletBump))
}

// keyOf converts an address that may be absent.
func keyOf(raw []byte) Key {
	if len(raw) == 0 {
		return Key{}
	}
	return Key(raw)
}

// openGiveOrder returns an order that has not been claimed yet, and fails otherwise.
func (i *invocation) openGiveOrder(id [32]byte) giveOrder {
	g, _ := stateOf[giveOrder](i.account(giveOrderState(id)))
	i.check(g.status == Created, 6004, "WrongGiveOrderStatus", "The order is not open")
	return g
}

// PatchGive increases the give amount of an open order. Its event does not contain the order ID.
func (c *Chain) PatchGive(at time.Time, id [32]byte, maker Account, addition uint64) error {
	g, known := read[giveOrder](c, giveOrderState(id))
	if !known {
		return fmt.Errorf("order %x was not created here", id)
	}
	authority, state, wallet := keyOf(g.terms.PatchAuthority), giveOrderState(id), giveOrderWallet(id)
	own := g.token.Wallet(authority)
	return c.submit(at, Way{}, maker, anchorCall(sourceProgram, "patch_order_give", []Meta{
		writes(state), signs(authority), writes(own), writes(wallet), reads(sourceState), reads(g.token.programOrDefault()),
	}, func(i *invocation) {
		g := i.openGiveOrder(id)
		i.call(g.token.transfer(own, wallet, authority, addition))
		fee := addition * transferFeeBps / bps
		g.given, g.percent = g.given+addition-fee, g.percent+fee
		i.update(state, g.data(), g)
		i.emit("IncreasedGiveAmount", g.given, g.percent)
	}, id, addition))
}

// claim returns the instruction claim_unlock or claim_order_cancel, which debridge calls with a take chain's message.
func (m Inbound) claim(g giveOrder) Instruction {
	id, submission := g.terms.ID(), submissionAccount(m.Submission)
	name, pay := "claim_unlock", (*invocation).payUnlock
	if m.Cancel {
		name, pay = "claim_order_cancel", (*invocation).payRefund
	}
	return anchorCall(sourceProgram, name, []Meta{
		reads(submission), writes(submissionAuthority(submission)), writes(sourceState), writes(feeLedger),
		writes(feeLedgerWallet(g.token.Mint)), reads(instructionsSysvar), writes(giveOrderState(id)),
		writes(g.token.Wallet(m.Beneficiary)), writes(m.Beneficiary), writes(giveOrderWallet(id)),
		reads(g.token.Mint), reads(takeChainSender(m.From)), reads(g.token.programOrDefault()),
	}, func(i *invocation) {
		g := i.openGiveOrder(id)
		isFromTakeChain := g.terms.Take().Chain == m.From
		i.check(isFromTakeChain, 6010, "WrongClaimParentChain", "The message is from another chain than the order's")
		pay(i, g, m.Beneficiary)
	}, id)
}

// payUnlock pays the taker's beneficiary, and the protocol its fee. The affiliate's share stays.
func (i *invocation) payUnlock(g giveOrder, beneficiary Key) {
	id := g.terms.ID()
	state, wallet := giveOrderState(id), giveOrderWallet(id)
	i.call(
		g.token.transfer(wallet, g.token.Wallet(beneficiary), state, g.given),
		g.token.transfer(wallet, feeLedgerWallet(g.token.Mint), state, g.percent),
	)
	i.move(state, feeLedger, fixFee)
	g.status = ClaimedUnlock
	i.finish(g, beneficiary, "ClaimedUnlock", g.affiliate == nil)
}

// payRefund refunds a cancelled order in full: all fees are returned too.
func (i *invocation) payRefund(g giveOrder, beneficiary Key) {
	id, paid := g.terms.ID(), g.given+g.percent+g.affiliate.amount()
	i.call(g.token.transfer(giveOrderWallet(id), g.token.Wallet(beneficiary), giveOrderState(id), paid))
	i.move(giveOrderState(id), beneficiary, fixFee)
	g.status = ClaimedCancel
	i.finish(g, beneficiary, "ClaimedOrderCancel", true)
}

// finish closes the order's wallet if it is empty, and stores and announces the status.
func (i *invocation) finish(g giveOrder, beneficiary Key, event string, isEmptied bool) {
	id := g.terms.ID()
	state, wallet := giveOrderState(id), giveOrderWallet(id)
	if isEmptied && !g.token.isNative() {
		i.call(g.token.closeAccount(wallet, beneficiary, state))
	}
	i.update(state, g.data(), g)
	i.emit(event)
}
