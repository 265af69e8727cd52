package onchain

import (
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// Log is one log of an EVM or TRON transaction.
type Log struct {
	Address chain.Address
	Topics  []chain.Hash
	Data    []byte
	Index   uint // position within the block
}

// Found is a fact about an order or a swap, found in a transaction.
type Found struct {
	Order    order.ID // absent for a swap, whose ID follows from its place (SwapID)
	LogIndex uint
	Fact     order.Fact
}

// Decode returns the orders and swaps in the logs of one transaction, in log order. It ignores logs of other contracts
// than c; a malformed log of c, or one whose order ID does not match its terms, is an error. It ignores fulfilments
// with an impossible give chain: any caller can make DlnDestination report them.
func Decode(c chain.Contracts, logs []Log) ([]Found, error) {
	var found []Found
	reports := reports{router: c.Router}
	for i, log := range logs {
		reports.see(log)
		e, ours := eventOf(c, log)
		if !ours {
			continue
		}
		w := words.New(log.Data)
		id, fact := e.read(w)
		err := w.Err()
		if errors.Is(err, words.ErrForeignChain) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("decode %s at log %d: %w", e.name(), log.Index, err)
		}
		switch f := fact.(type) {
		case order.Created:
			f.Preswap = reports.takeSwap(f.Terms.Give.Token)
			fact = f
		case order.Claimed:
			f.Submission = submissionOf(c, logs[i+1:])
			fact = f
		case order.Swapped:
			f.Affiliate = reports.takeShare(f)
			fact = f
		}
		found = append(found, Found{id, log.Index, fact})
	}
	return found, nil
}

// submissionOf returns the message of a claim: the gate's first report to DlnSource after it, absent if none.
func submissionOf(c chain.Contracts, following []Log) chain.Hash {
	const receiver = 2
	for _, log := range following {
		if log.Address != c.Gate || len(log.Topics) != 4 || log.Topics[0] != gateClaimed || len(log.Data) < words.Size {
			continue
		}
		if words.New(log.Topics[receiver][:]).Address(0) == c.DlnSource {
			return chain.Hash(log.Data[:words.Size])
		}
	}
	return chain.Hash{}
}
