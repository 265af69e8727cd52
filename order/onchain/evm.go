package onchain

import (
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
)

// Log is one event log of an EVM or TRON transaction.
type Log struct {
	Address chain.Address
	Topics  []chain.Hash
	Data    []byte
	Index   uint // position within the block
}

// Found is a fact that a transaction states about an order, or a swap.
type Found struct {
	Order    order.ID // absent of a swap, whose id its place gives (SwapID)
	LogIndex uint
	Fact     order.Fact
}

// Decode returns the orders and swaps in the logs of one transaction, given in log order. Logs of other contracts
// than c are ignored; a log of c that is not encoded as its event demands, or whose order id does not follow from its
// terms, is an error.
//
// One kind of log of c is ignored too: any caller can have DlnDestination fulfil an order that was never created,
// with a give chain id of any 256 bits. It concerns no chain, and must not make its block unreadable.
func Decode(c chain.Contracts, logs []Log) ([]Found, error) {
	var found []Found
	swaps, shares := swaps{router: c.Router}, shares{router: c.Router}
	for i, log := range logs {
		swaps.see(log)
		shares.see(log)
		e, ours := eventOf(c, log)
		if !ours {
			continue
		}
		id, fact, err := e.decode(log.Data)
		if errors.Is(err, errForeignChain) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("decode %s at log %d: %w", e.name(), log.Index, err)
		}
		switch f := fact.(type) {
		case order.Created:
			f.Preswap = swaps.take(f.Terms.Give.Token)
			fact = f
		case order.Claimed:
			f.Submission = submissionOf(c, logs[i+1:])
			fact = f
		case order.Swapped:
			f.Affiliate = shares.take(f)
			fact = f
		}
		found = append(found, Found{id, log.Index, fact})
	}
	return found, nil
}

// decode reads the event's data and checks the order id that comes with terms.
func (e event) decode(data []byte) (order.ID, order.Fact, error) {
	w := newWords(data)
	id, fact := e.read(w)
	if err := w.err(); err != nil {
		return order.ID{}, nil, err
	}
	return id, fact, nil
}

// submissionOf finds the message that a claim carried out. The gate reports it after its claims: the first report to
// DlnSource among the following logs, or absent.
func submissionOf(c chain.Contracts, following []Log) chain.Hash {
	const receiver = 2
	for _, log := range following {
		if log.Address != c.Gate || len(log.Topics) != 4 || log.Topics[0] != gateClaimed || len(log.Data) < wordSize {
			continue
		}
		if newWords(log.Topics[receiver][:]).address(0) == c.DlnSource {
			return chain.Hash(log.Data[:wordSize])
		}
	}
	return chain.Hash{}
}
