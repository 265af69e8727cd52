package onchain

import (
	"crypto/sha256"

	"crossgate/chain"
	"crossgate/order"
)

// discriminator is the type of the data after it: the first bytes of a name's hash (anchor-lang.com).
type discriminator [8]byte

func discriminatorOf(namespace, name string) discriminator {
	hash := sha256.Sum256([]byte(namespace + ":" + name))
	return discriminator(hash[:])
}

// splitDiscriminator returns the zero discriminator, which nothing has, if data is too short.
func splitDiscriminator(data []byte) (d discriminator, rest []byte) {
	if len(data) < len(d) {
		return discriminator{}, nil
	}
	return discriminator(data), data[len(d):]
}

// Events in addition to an instruction's own, or of other programs.
var (
	createdOrderID  = discriminatorOf("event", "CreatedOrderId")
	gateTransferred = discriminatorOf("event", "Transferred")
	gateBridged     = discriminatorOf("event", "Bridged")
	gateExecuted    = discriminatorOf("event", "ExternalCallExecuted")
	callExecuted    = discriminatorOf("event", "Executed")
	callFallbacked  = discriminatorOf("event", "Fallbacked")
)

var sendBatchUnlock = discriminatorOf("global", "send_batch_unlock")

// makeFallback is an instruction of the executor (IDL of extcall_program 1.1.1 in @debridge-finance/dln-client 8.3.6).
var makeFallback = discriminatorOf("global", "make_fallback")

// solanaInstruction is an instruction of the protocol's programs that advances an order.
type solanaInstruction struct {
	name       string
	program    func(chain.Contracts) chain.Address
	event      string // reports that the program executed the instruction
	needsEvent bool   // the event has contents that the instruction lacks
	read       func(*scene) []Found

	reports discriminator // discriminator of event
}

// solanaInstructions are those of dln_src and dln_dst (IDL 3.0.0 in debridge-finance/solana-tx-parser-public).
var solanaInstructions = byDiscriminator(
	solanaInstruction{name: "create_order", program: source, event: "CreatedOrder", needsEvent: true, read: readSolanaCreation},
	solanaInstruction{name: "create_order_with_nonce", program: source, event: "CreatedOrder", needsEvent: true, read: readSolanaCreation},
	solanaInstruction{name: "patch_order_give", program: source, event: "IncreasedGiveAmount", needsEvent: true, read: func(s *scene) []Found {
		return s.found(s.args.hash(), order.GiveIncreased{Final: s.told.amount64(), FinalPercentFee: s.told.amount64()})
	}},
	solanaInstruction{name: "claim_unlock", program: source, event: "ClaimedUnlock", read: readClaim(order.Unlock)},
	solanaInstruction{name: "claim_order_cancel", program: source, event: "ClaimedOrderCancel", read: readClaim(order.Cancel)},
	solanaInstruction{name: "fulfill_order", program: destination, event: "Fulfilled", read: readFulfillOrder},
	solanaInstruction{name: "send_unlock", program: destination, event: "SentUnlock", read: readSent(order.Unlock)},
	solanaInstruction{name: "send_batch_unlock", program: destination, event: "SentUnlock", read: readSendBatchUnlock},
	solanaInstruction{name: "cancel_order", program: destination, event: "OrderCancelled", read: func(s *scene) []Found {
		id, _ := s.orderAndID()
		return s.found(id, order.Cancelled{})
	}},
	solanaInstruction{name: "send_order_cancel", program: destination, event: "SentOrderCancel", read: readSent(order.Cancel)},
	solanaInstruction{name: "patch_take_order", program: destination, event: "DecreaseTakeAmount", needsEvent: true, read: func(s *scene) []Found {
		return s.found(s.told.hash(), order.TakeDecreased{Final: s.told.amount64()})
	}},
)

func byDiscriminator(list ...solanaInstruction) map[discriminator]solanaInstruction {
	table := make(map[discriminator]solanaInstruction, len(list))
	for _, each := range list {
		each.reports = discriminatorOf("event", each.event)
		table[discriminatorOf("global", each.name)] = each
	}
	return table
}
