package onchain

import (
	"errors"
	"fmt"
	"slices"

	"crossgate/order"
)

// giveOrderStates begin a GiveOrderAccount: Anchor's spelling, and that of deBridge's test IDL.
var giveOrderStates = []discriminator{discriminatorOf("account", "GiveOrderState"), discriminatorOf("account", "giveOrderState")}

// giveStatuses are the variants of a GiveOrderAccount (IDL of dln_src 3.0.0).
var giveStatuses = []GiveStatus{GiveCreated, GiveClaimedUnlock, GiveClaimedCancel}

// DecodeGiveAccount reads a GiveOrderAccount; without data the order was not created. Missing amounts are zero.
func DecodeGiveAccount(data []byte) (GiveOrder, error) {
	if len(data) == 0 {
		return GiveOrder{}, nil
	}
	d, rest := splitDiscriminator(data)
	if !slices.Contains(giveOrderStates, d) {
		return GiveOrder{}, errors.New("decode GiveOrderState: account of another kind")
	}
	b := newBorsh(rest)
	variant := int(b.Uint8())
	if variant >= len(giveStatuses) {
		return GiveOrder{}, fmt.Errorf("decode GiveOrderState: status %d is unknown", variant)
	}
	stored := GiveOrder{Status: giveStatuses[variant]}
	if stored.Status == GiveCreated {
		stored.readCreated(b)
	}
	if b.Err != nil {
		return GiveOrder{}, fmt.Errorf("decode GiveOrderState: %w", b.Err)
	}
	return stored, nil
}

func (g *GiveOrder) readCreated(b *borsh) {
	if b.some() {
		g.Amount = b.amount64()
	}
	if b.some() {
		g.FixFee = b.amount64()
	}
	if b.some() {
		g.PercentFee = b.amount64()
	}
	if b.some() {
		g.Affiliate = &order.Affiliate{Beneficiary: b.Key(), Amount: b.amount64()}
	}
	b.optionalKey() // the only one who may be refunded
	b.Key()         // may raise the give amount
	g.TakeChain = b.chainID()
}

// takeOrderStates begin a TakeOrderAccount, spelled as giveOrderStates are.
var takeOrderStates = []discriminator{discriminatorOf("account", "TakeOrderState"), discriminatorOf("account", "takeOrderState")}

// takeStatuses are the variants of a TakeOrderAccount (IDL of dln_dst 1.2.1), the first of older programs.
var takeStatuses = []TakeStatus{TakeFulfilled, TakeSentUnlock, TakeCancelled, TakeSentCancel, TakeFulfilled}

// DecodeTakeAccount reads a TakeOrderAccount; without data the order was neither fulfilled nor cancelled.
func DecodeTakeAccount(data []byte) (TakeStatus, error) {
	if len(data) == 0 {
		return TakeNotSet, nil
	}
	d, rest := splitDiscriminator(data)
	if !slices.Contains(takeOrderStates, d) {
		return TakeNotSet, errors.New("decode TakeOrderState: account of another kind")
	}
	b := newBorsh(rest)
	variant := int(b.Uint8())
	if b.Err != nil {
		return TakeNotSet, fmt.Errorf("decode TakeOrderState: %w", b.Err)
	}
	if variant >= len(takeStatuses) {
		return TakeNotSet, fmt.Errorf("decode TakeOrderState: status %d is unknown", variant)
	}
	return takeStatuses[variant], nil
}
