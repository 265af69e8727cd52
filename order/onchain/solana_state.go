package onchain

import (
	"fmt"
	"strings"

	"crossgate/order"
)

// giveStatuses are the variants of a GiveOrderAccount (IDL of dln_src 3.0.0).
var giveStatuses = []GiveStatus{GiveCreated, GiveClaimedUnlock, GiveClaimedCancel}

// DecodeGiveAccount reads a GiveOrderAccount; without data the order was not created. Missing amounts are zero.
func DecodeGiveAccount(data []byte) (stored GiveOrder, err error) {
	if len(data) == 0 {
		return GiveOrder{}, nil
	}
	b, variant, err := openState(data, "GiveOrderState", len(giveStatuses))
	if err != nil {
		return GiveOrder{}, err
	}
	if stored.Status = giveStatuses[variant]; stored.Status == GiveCreated {
		stored.readCreated(b)
	}
	if b.Err != nil {
		return GiveOrder{}, fmt.Errorf("decode GiveOrderState: %w", b.Err)
	}
	return stored, nil
}

// openState reads which variant an account of a kind holds: by Anchor's spelling, or that of deBridge's test IDL.
func openState(data []byte, kind string, variants int) (b *borsh, variant int, err error) {
	d, rest := splitDiscriminator(data)
	if d != discriminatorOf("account", kind) && d != discriminatorOf("account", strings.ToLower(kind[:1])+kind[1:]) {
		return nil, 0, fmt.Errorf("decode %s: account of another kind", kind)
	}
	b = newBorsh(rest)
	variant = int(b.Uint8())
	if b.Err != nil {
		return nil, 0, fmt.Errorf("decode %s: %w", kind, b.Err)
	}
	if variant >= variants {
		return nil, 0, fmt.Errorf("decode %s: status %d is unknown", kind, variant)
	}
	return b, variant, nil
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

// takeStatuses are the variants of a TakeOrderAccount (IDL of dln_dst 1.2.1), the first of older programs.
var takeStatuses = []TakeStatus{TakeFulfilled, TakeSentUnlock, TakeCancelled, TakeSentCancel, TakeFulfilled}

// DecodeTakeAccount reads a TakeOrderAccount; without data the order was neither fulfilled nor cancelled.
func DecodeTakeAccount(data []byte) (TakeStatus, error) {
	if len(data) == 0 {
		return TakeNotSet, nil
	}
	_, variant, err := openState(data, "TakeOrderState", len(takeStatuses))
	if err != nil {
		return TakeNotSet, err
	}
	return takeStatuses[variant], nil
}
