package onchain

import (
	"errors"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
)

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
