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

// Affiliate is who shares what the maker gives.
type Affiliate struct {
	Beneficiary Key
	Amount      uint64
}

// Creation is what a maker offers.
type Creation struct {
	Maker  Account
	Payer  Account // of the transaction; zero: the maker
	Give   Token
	Amount uint64 // gross: the fees go off it
	Take   Offer

	Receiver, Authority, AllowedTaker, ExternalCall []byte

	CancelBeneficiary Key
	Affiliate         *Affiliate
	Referral          *uint32
	// Nonce replaces the maker's counter; zero uses the counter, and no metadata is carried.
	Nonce    uint64
	Metadata []byte
}

// terms are the order that the creation makes.
func (o Creation) terms(nonce uint64) Terms {
	t := Terms{
		Nonce: nonce, Maker: o.Maker.Key[:],
		GiveChain: big.NewInt(ID), GiveToken: o.Give.Mint[:], GiveAmount: new(big.Int).SetUint64(o.net()),
		TakeChain: new(big.Int).SetUint64(o.Take.Chain), TakeToken: o.Take.Token, TakeAmount: o.Take.Amount,
		Receiver: o.Receiver, PatchAuthority: o.Maker.Key[:], Authority: o.Authority,
		AllowedTaker: o.AllowedTaker, ExternalCall: o.ExternalCall,
	}
	if o.CancelBeneficiary != (Key{}) {
		t.CancelBeneficiary = o.CancelBeneficiary[:]
	}
	return t
}

func (o Creation) percentFee() uint64 { return o.Amount * transferFeeBps / bps }

func (o Creation) net() uint64 {
	net := o.Amount - o.percentFee()
	if o.Affiliate != nil {
		net -= o.Affiliate.Amount
	}
	return net
}

// Create makes orders, all in one transaction. A doomed way leaves a failed transaction and no order.
func (c *Chain) Create(at time.Time, w Way, creations ...Creation) ([]Order, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maker, payer := creations[0].Maker, creations[0].Payer
	if payer.Key == (Key{}) {
		payer = maker
	}
	var instructions []Instruction
	orders := make([]Order, len(creations))
	for n, o := range creations {
		if o.Give.Mint == Tokens[0].Mint {
			instructions = append(instructions, wrap(maker.Key, o.Amount)...)
		}
		nonce := o.Nonce
		if nonce == 0 {
			nonce, _ = stateOf[uint64](c.accounts[makerNonces(maker.Key)])
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

// createOrder is the instruction create_order, or create_order_with_nonce when the maker counts itself.
func (o Creation) createOrder(nonce uint64) Instruction {
	t := o.terms(nonce)
	id, maker := t.ID(), o.Maker.Key
	accounts := []Meta{
		signs(maker), writes(sourceState), reads(o.Give.Mint), writes(giveOrderState(id)),
		reads(takeChainSender(o.Take.Chain)), writes(o.Give.Wallet(maker)), writes(giveOrderWallet(id)),
		writes(makerNonces(maker)), writes(feeLedgerWallet(o.Give.Mint)),
		reads(systemProgram), reads(o.Give.programOrDefault()), reads(associatedProgram),
	}
	name, args := "create_order", []any{
		o.Amount, o.Take.borsh(), o.Receiver, optional(o.ExternalCall), maker, optionalKey(o.CancelBeneficiary),
		o.Authority, optional(o.AllowedTaker), o.Affiliate, o.Referral,
	}
	if o.Nonce != 0 {
		name, args = "create_order_with_nonce", append(args, o.Nonce, o.Metadata)
	}
	return anchorCall(sourceProgram, name, accounts, func(i *invocation) { i.createOrder(o, t) }, args...)
}

func (i *invocation) createOrder(o Creation, t Terms) {
	id, maker := t.ID(), o.Maker.Key
	state, wallet := giveOrderState(id), giveOrderWallet(id)
	i.check(i.account(takeChainSender(o.Take.Chain)) != nil, 6009, "NotSupportedChain", "Take chain is not supported")
	i.count(maker, o.Nonce)
	g := giveOrder{
		terms: t, token: o.Give, status: Created, given: o.net(), percent: o.percentFee(),
		affiliate: o.Affiliate, created: i.tx.Signatures[0], slot: i.tx.slot, metadata: o.Metadata,
	}
	i.create(maker, state, sourceProgram, g.data(), g)
	i.call(transferLamports(maker, sourceState, fixFee))
	if !o.Give.isNative() {
		i.createTokens(maker, wallet, state, o.Give)
	}
	i.call(o.Give.transfer(o.Give.Wallet(maker), wallet, maker, o.Amount))
	i.emit("CreatedOrder", t.borsh(), fixFee, g.percent)
	i.emit("CreatedOrderId", id)
}

// count opens the maker's counter, and moves it when the order takes its nonce from there.
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

// data lays out GiveOrderState, whose content gets shorter when the order is claimed.
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

// keyOf reads an address that may be absent.
func keyOf(raw []byte) Key {
	if len(raw) == 0 {
		return Key{}
	}
	return Key(raw)
}

// openGiveOrder is an order that nobody has been paid for.
func (i *invocation) openGiveOrder(id [32]byte) giveOrder {
	g, _ := stateOf[giveOrder](i.account(giveOrderState(id)))
	i.check(g.status == Created, 6004, "WrongGiveOrderStatus", "The order is not open")
	return g
}

// PatchGive adds to what an open order gives. Its event does not name the order.
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

// claim is the instruction claim_unlock or claim_order_cancel, which debridge calls with a message from the take chain.
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

// payUnlock pays whoever fulfilled the order, and the protocol its fee. What is the affiliate's stays.
func (i *invocation) payUnlock(g giveOrder, beneficiary Key) {
	id := g.terms.ID()
	state, wallet := giveOrderState(id), giveOrderWallet(id)
	i.call(
		g.token.transfer(wallet, g.token.Wallet(beneficiary), state, g.given),
		g.token.transfer(wallet, feeLedgerWallet(g.token.Mint), state, g.percent),
	)
	g.status = ClaimedUnlock
	i.finish(g, beneficiary, "ClaimedUnlock", g.affiliate == nil)
}

// payRefund pays the maker of a cancelled order, whom it costs nothing: all fees go back too.
func (i *invocation) payRefund(g giveOrder, beneficiary Key) {
	id, paid := g.terms.ID(), g.given+g.percent
	if g.affiliate != nil {
		paid += g.affiliate.Amount
	}
	i.call(g.token.transfer(giveOrderWallet(id), g.token.Wallet(beneficiary), giveOrderState(id), paid))
	i.move(sourceState, beneficiary, fixFee)
	g.status = ClaimedCancel
	i.finish(g, beneficiary, "ClaimedOrderCancel", true)
}

// finish closes the order's wallet when it is empty, and keeps and announces the status.
func (i *invocation) finish(g giveOrder, beneficiary Key, event string, isEmptied bool) {
	id := g.terms.ID()
	state, wallet := giveOrderState(id), giveOrderWallet(id)
	if isEmptied && !g.token.isNative() {
		i.call(g.token.closeAccount(wallet, beneficiary, state))
	}
	i.update(state, g.data(), g)
	i.emit(event)
}
