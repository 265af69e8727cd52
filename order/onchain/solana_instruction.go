package onchain

import (
	"crypto/sha256"

	"crossgate/chain"
	"crossgate/order"
)

// discriminator is the type of the data behind it: the first bytes of the hash of a name (anchor-lang.com).
type discriminator [8]byte

func discriminatorOf(namespace, name string) discriminator {
	hash := sha256.Sum256([]byte(namespace + ":" + name))
	return discriminator(hash[:])
}

// splitDiscriminator returns a zero discriminator, which nothing has, for data that is too short.
func splitDiscriminator(data []byte) (d discriminator, rest []byte) {
	if len(data) < len(d) {
		return discriminator{}, nil
	}
	return discriminator(data), data[len(d):]
}

// Events that come with an instruction's own one, or from other programs.
var (
	createdOrderID  = discriminatorOf("event", "CreatedOrderId")
	gateTransferred = discriminatorOf("event", "Transferred")
	gateBridged     = discriminatorOf("event", "Bridged")
	gateExecuted    = discriminatorOf("event", "ExternalCallExecuted")
	callExecuted    = discriminatorOf("event", "Executed")
	callFallbacked  = discriminatorOf("event", "Fallbacked")
)

var sendBatchUnlock = discriminatorOf("global", "send_batch_unlock")

// makeFallback is the executor's (IDL of extcall_program 1.1.1 in @debridge-finance/dln-client 8.3.6).
var makeFallback = discriminatorOf("global", "make_fallback")

// solanaInstruction is one instruction of the protocol's programs that takes an order a step further.
type solanaInstruction struct {
	name       string
	program    func(chain.Contracts) chain.Address
	event      discriminator // by which the program reports that it did it
	needsEvent bool          // which has more than that
	read       func(*scene) []Found
}

// solanaInstructions are those of dln_src and dln_dst (IDL 3.0.0 in debridge-finance/solana-tx-parser-public,
// tests/idl).
var solanaInstructions = byDiscriminator(
	newInstruction("create_order", source, "CreatedOrder", readCreateOrder).telling(),
	newInstruction("create_order_with_nonce", source, "CreatedOrder", readCreateOrderWithNonce).telling(),
	newInstruction("patch_order_give", source, "IncreasedGiveAmount", readPatchOrderGive).telling(),
	newInstruction("claim_unlock", source, "ClaimedUnlock", readClaim(order.Unlock)),
	newInstruction("claim_order_cancel", source, "ClaimedOrderCancel", readClaim(order.Cancel)),
	newInstruction("fulfill_order", destination, "Fulfilled", readFulfillOrder),
	newInstruction("send_unlock", destination, "SentUnlock", readSendUnlock),
	newInstruction("send_batch_unlock", destination, "SentUnlock", readSendBatchUnlock),
	newInstruction("cancel_order", destination, "OrderCancelled", readCancelOrder),
	newInstruction("send_order_cancel", destination, "SentOrderCancel", readSendOrderCancel),
	newInstruction("patch_take_order", destination, "DecreaseTakeAmount", readPatchTakeOrder).telling(),
)

func newInstruction(name string, program func(chain.Contracts) chain.Address, event string, read func(*scene) []Found) solanaInstruction {
	return solanaInstruction{name: name, program: program, event: discriminatorOf("event", event), read: read}
}

func (i solanaInstruction) telling() solanaInstruction {
	i.needsEvent = true
	return i
}

func byDiscriminator(list ...solanaInstruction) map[discriminator]solanaInstruction {
	table := make(map[discriminator]solanaInstruction, len(list))
	for _, each := range list {
		table[discriminatorOf("global", each.name)] = each
	}
	return table
}
