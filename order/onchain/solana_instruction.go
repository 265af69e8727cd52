package onchain

import (
	"crypto/sha256"
	"errors"

	"crossgate/chain"
	"crossgate/chain/solana"
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

// readSolanaCreation takes terms and fees from the event, and everything else from the arguments.
func readSolanaCreation(s *scene) []Found {
	created := order.Created{
		Terms:      s.told.terms(),
		FixFee:     s.told.amount64(),
		PercentFee: s.told.amount64(),
	}
	var id order.ID
	if data, told := s.event(createdOrderID); told || !s.cut {
		event := newBorsh(data)
		if id = event.hash(); event.Err != nil {
			s.told.Fail(errors.New("order without an id"))
		}
	} else {
		s.told.Fail(ErrLogsCut)
	}
	s.told.checkID(created.Terms, id)

	asked, err := ParseSolanaCreation(s.Data)
	switch call := asked.ExternalCall; { // its bytes come in the place of their hash
	case err != nil:
		s.args.Fail(err)
	case len(call) == 0:
	case CallHash(call) != created.Terms.ExternalCallHash:
		s.args.Fail(errors.New("external call does not match its hash in the order"))
	default:
		created.Terms.ExternalCall, created.Terms.ExternalCallHash = call, chain.Hash{}
	}
	created.Affiliate, created.ReferralCode, created.Metadata = asked.Affiliate, asked.ReferralCode, asked.Metadata
	return s.found(id, created)
}

// readClaim leaves out the payment, which the program does not report.
func readClaim(kind order.MessageKind) func(*scene) []Found {
	const beneficiary = 8
	return func(s *scene) []Found {
		return s.found(s.args.hash(), order.Claimed{
			Kind:        kind,
			Beneficiary: s.account(beneficiary),
			Submission:  s.claimedSubmission(),
		})
	}
}

func readFulfillOrder(s *scene) []Found {
	const taker = 1
	id, terms := s.orderAndID()
	fulfilled := order.Fulfilled{Terms: terms, Taker: s.account(taker), UnlockAuthority: s.args.optional(s.args.Key)}
	if fulfilled.UnlockAuthority.IsAbsent() {
		fulfilled.UnlockAuthority = fulfilled.Taker
	}
	return s.found(id, fulfilled)
}

// orderAndID decodes the arguments that instructions of dln_dst begin with if they take the whole order.
func (s *scene) orderAndID() (order.ID, order.Terms) {
	terms := s.args.terms()
	id := s.args.hash()
	s.args.checkID(terms, id)
	return id, terms
}

// readSendBatchUnlock decodes an instruction that identifies orders by their accounts.
func readSendBatchUnlock(s *scene) []Found {
	fact := order.Sent{Kind: order.Unlock, Beneficiary: s.args.party(), Submission: s.sentSubmission()}
	var found []Found
	for place, account := range batchAccounts(s.Instruction) {
		if id, known := s.orderOf(account); known {
			found = append(found, Found{Order: id, LogIndex: positionOf(s.index, place), Fact: fact})
		}
	}
	return found
}

// batchAccounts returns the accounts of the orders in a batch, after those that every batch has.
func batchAccounts(batch solana.Instruction) []chain.Address {
	const always = 20
	return batch.Accounts[min(always, len(batch.Accounts)):]
}

func readSent(kind order.MessageKind) func(*scene) []Found {
	return func(s *scene) []Found {
		id := s.args.hash()
		return s.found(id, order.Sent{Kind: kind, Beneficiary: s.args.party(), Submission: s.sentSubmission()})
	}
}
