package solana

import (
	"fmt"
	"math/big"
)

// Status of one side of an order.
type Status uint8

// Statuses, of which each side shows some.
const (
	Absent Status = iota
	Created
	ClaimedUnlock
	ClaimedCancel
	Fulfilled
	SentUnlock
	Cancelled
	SentCancel
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
		Give:     Offer{ID, o.Give.Mint[:], new(big.Int).SetUint64(o.net())},
		Take:     o.Take,
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

// createOrder is the instruction create_order, or create_order_with_nonce when the maker counts itself.
func (o Creation) createOrder(nonce uint64) Instruction {
	t := o.terms(nonce)
	id := t.ID()
	in := Instruction{
		Program: sourceProgram,
		Accounts: []Meta{
			signs(o.Maker.Key), writes(sourceState), reads(o.Give.Mint), writes(giveOrderState(id)),
			reads(takenBy(o.Take.Chain)), writes(o.Give.Wallet(o.Maker.Key)), writes(giveOrderWallet(id)),
			writes(makerNonces(o.Maker.Key)), writes(feeLedgerWallet(o.Give.Mint)),
			reads(systemProgram), reads(o.Give.programOr(tokenProgram)), reads(associatedProgram),
		},
		Data: anchor("global", "create_order"),
		run:  func(i *invocation) error { return i.createOrder(o, t) },
	}
	if o.Nonce != 0 {
		in.Data = anchor("global", "create_order_with_nonce")
	}
	data := borsh(in.Data).u64(o.Amount).offer(o.Take).bytes(o.Receiver).optional(o.ExternalCall)
	data = data.key(o.Maker.Key).optionalKey(o.CancelBeneficiary).bytes(o.Authority).optional(o.AllowedTaker)
	data = data.affiliate(o.Affiliate)
	if o.Referral == nil {
		data = data.u8(0)
	} else {
		data = data.u8(1).u32(*o.Referral)
	}
	if o.Nonce != 0 {
		data = data.u64(o.Nonce).bytes(o.Metadata)
	}
	in.Data = data
	return in
}

func (b borsh) affiliate(a *Affiliate) borsh {
	if a == nil {
		return b.u8(0)
	}
	return b.u8(1).key(a.Beneficiary).u64(a.Amount)
}

// programOr is the token's program; the coin has none.
func (t Token) programOr(otherwise Key) Key {
	if t.program == (Key{}) {
		return otherwise
	}
	return t.program
}

func (i *invocation) createOrder(o Creation, t Terms) error {
	id, maker := t.ID(), o.Maker.Key
	if o.Nonce == 0 {
		i.log("Instruction: CreateOrder")
	} else {
		i.log("Instruction: CreateOrderWithNonce")
	}
	if i.account(takenBy(o.Take.Chain)) == nil {
		return i.refuse(6009, "NotSupportedChain", "Take chain is not supported")
	}
	if err := i.count(maker, o.Nonce); err != nil {
		return err
	}
	g := giveOrder{
		terms: t, token: o.Give, status: Created, given: o.net(), percent: o.percentFee(),
		affiliate: o.Affiliate, created: i.tx.signatures[0], slot: i.tx.slot,
	}
	if err := i.create(maker, giveOrderState(id), sourceProgram, g.data(), g); err != nil {
		return err
	}
	if err := i.call(transferLamports(maker, sourceState, fixFee)); err != nil {
		return err
	}
	wallet := giveOrderWallet(id)
	if o.Give.Mint != systemProgram {
		if err := i.createTokens(maker, wallet, giveOrderState(id), o.Give); err != nil {
			return err
		}
	}
	if err := i.call(o.Give.transfer(o.Give.Wallet(maker), wallet, maker, o.Amount)); err != nil {
		return err
	}
	i.emit(anchor("event", "CreatedOrder").order(t).u64(fixFee).u64(g.percent))
	i.emit(anchor("event", "CreatedOrderId").raw(id[:]))
	return nil
}

// count opens the maker's counter, and moves it when the order takes its nonce from there.
func (i *invocation) count(maker Key, own uint64) error {
	at := makerNonces(maker)
	if i.account(at) == nil {
		if err := i.create(maker, at, sourceProgram, nonceData(0), uint64(0)); err != nil {
			return err
		}
	}
	if own == 0 {
		used, _ := stateOf[uint64](i.account(at))
		i.update(at, nonceData(used+1), used+1)
	}
	return nil
}

// data lays out GiveOrderState, whose content gets shorter when the order is claimed.
func (g giveOrder) data() []byte {
	const size = 176
	data := anchor("account", "GiveOrderState")
	switch g.status {
	case ClaimedUnlock:
		data = data.u8(1).affiliate(g.affiliate)
	case ClaimedCancel:
		data = data.u8(2).affiliate(nil)
	default:
		data = data.u8(0).u8(1).u64(g.given).u8(1).u64(fixFee).u8(1).u64(g.percent).affiliate(g.affiliate)
		data = data.optionalKey(keyOf(g.terms.CancelBeneficiary)).raw(g.terms.PatchAuthority).raw(chainSeed(g.terms.Take.Chain))
	}
	id := g.terms.ID()
	_, bump := derive(sourceProgram, []byte("GIVE_ORDER_STATE"), id[:])
	_, walletBump := derive(sourceProgram, []byte("GIVE_ORDER_WALLET"), id[:])
	return sizeTo(size, data.u8(bump).u8(walletBump))
}

// keyOf reads an address that may be absent.
func keyOf(raw []byte) Key {
	if len(raw) == 0 {
		return Key{}
	}
	return Key(raw)
}

// patchOrderGive adds to what an open order gives. Its event does not name the order.
func patchOrderGive(g giveOrder, addition uint64) Instruction {
	id, maker := g.terms.ID(), keyOf(g.terms.PatchAuthority)
	return Instruction{
		Program: sourceProgram,
		Accounts: []Meta{
			writes(giveOrderState(id)), signs(maker), writes(g.token.Wallet(maker)), writes(giveOrderWallet(id)),
			reads(sourceState), reads(g.token.programOr(tokenProgram)),
		},
		Data: anchor("global", "patch_order_give").raw(id[:]).u64(addition),
		run: func(i *invocation) error {
			i.log("Instruction: PatchOrderGive")
			g, _ := stateOf[giveOrder](i.account(giveOrderState(id)))
			if g.status != Created {
				return i.refuse(6004, "WrongGiveOrderStatus", "The order is not open")
			}
			if err := i.call(g.token.transfer(g.token.Wallet(maker), giveOrderWallet(id), maker, addition)); err != nil {
				return err
			}
			fee := addition * transferFeeBps / bps
			g.given, g.percent = g.given+addition-fee, g.percent+fee
			i.update(giveOrderState(id), g.data(), g)
			i.emit(anchor("event", "IncreasedGiveAmount").u64(g.given).u64(g.percent))
			return nil
		},
	}
}

// claim is the instruction claim_unlock or claim_order_cancel, which debridge calls with word from the
// take chain. A cancelled order costs its maker nothing: all fees go back too.
func (m Inbound) claim(g giveOrder) Instruction {
	id, submission := g.terms.ID(), submissionAccount(m.Submission)
	name := "claim_unlock"
	if m.Cancel {
		name = "claim_order_cancel"
	}
	return Instruction{
		Program: sourceProgram,
		Accounts: []Meta{
			reads(submission), writes(submissionAuthority(submission)), writes(sourceState), writes(feeLedger),
			writes(feeLedgerWallet(g.token.Mint)), reads(instructionsSysvar), writes(giveOrderState(id)),
			writes(g.token.Wallet(m.Beneficiary)), writes(m.Beneficiary), writes(giveOrderWallet(id)),
			reads(g.token.Mint), reads(takenBy(m.From)), reads(g.token.programOr(tokenProgram)),
		},
		Data: anchor("global", name).raw(id[:]),
		run:  func(i *invocation) error { return i.claim(m, id) },
	}
}

func (i *invocation) claim(m Inbound, id [32]byte) error {
	if m.Cancel {
		i.log("Instruction: ClaimOrderCancel")
	} else {
		i.log("Instruction: ClaimUnlock")
	}
	g, _ := stateOf[giveOrder](i.account(giveOrderState(id)))
	if g.status != Created {
		return i.refuse(6004, "WrongGiveOrderStatus", "The order is not open")
	}
	if g.terms.Take.Chain != m.From {
		return i.refuse(6010, "WrongClaimParentChain", "Word from another chain than the order's")
	}
	wallet, state := giveOrderWallet(id), giveOrderState(id)
	paid, event := g.given, "ClaimedUnlock"
	g.status = ClaimedUnlock
	if m.Cancel {
		paid, event = paid+g.percent, "ClaimedOrderCancel"
		if g.affiliate != nil {
			paid += g.affiliate.Amount
		}
		g.status = ClaimedCancel
	}
	if err := i.call(g.token.transfer(wallet, g.token.Wallet(m.Beneficiary), state, paid)); err != nil {
		return fmt.Errorf("pay order %x: %w", id, err)
	}
	if !m.Cancel {
		if err := i.call(g.token.transfer(wallet, feeLedgerWallet(g.token.Mint), state, g.percent)); err != nil {
			return fmt.Errorf("keep fee of order %x: %w", id, err)
		}
	} else if err := i.move(sourceState, m.Beneficiary, fixFee); err != nil {
		return err
	}
	if isEmptied := m.Cancel || g.affiliate == nil; isEmptied && g.token.Mint != systemProgram {
		if err := i.call(g.token.closeAccount(wallet, m.Beneficiary, state)); err != nil {
			return err
		}
	}
	i.update(state, g.data(), g)
	i.emit(anchor("event", event))
	return nil
}
