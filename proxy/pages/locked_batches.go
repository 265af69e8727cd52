package pages

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

// Orders that one unlock message pays: dln-contracts, DlnDestination.maxOrderCountPerBatchEvmUnlock and
// maxOrderCountPerBatchSolanaUnlock, which their governance can change. Those of a batch have the same give chain, on
// Solana the same give token.
const (
	mostUnlockedOnEVM    = 50
	mostUnlockedOnSolana = 7
)

// batch are the orders that a taker can unlock together: delivered on one chain, paid on another.
type batch struct {
	Take, Give string
	Symbol     string // of the give token, where batches are of one
	Ready      int    // orders whose unlock message was not sent
	USD        string // of these
	Sent       int    // orders whose unlock message is on its way
	Batches    int    // that the ready ones take; 0: how many orders one takes is not known
	First      string // ids of the first batch, those that wait longest, a line each
}

// batchOf is the key of a batch.
type batchOf struct {
	take, give chain.ID
	token      string
}

type unlockable struct {
	id  string
	at  uint64
	usd *big.Rat
}

// batches groups the orders whose delivery was looked up.
func (p *Views) batches(l Locked) []batch {
	var keys []batchOf
	ready, sent, symbols := map[batchOf][]unlockable{}, map[batchOf]int{}, map[batchOf]string{}
	for _, c := range l.Answer.Chains {
		for _, t := range c.Tokens {
			for _, d := range t.Targets {
				key := batchOf{take: d.Chain, give: c.Chain}
				if p.Chains.Family(key.give) == chain.SVM {
					key.token = t.Token.Format(chain.SVM)
					symbols[key] = l.Answer.Tokens[token.Key{Chain: c.Chain, Address: t.Token}].Symbol
				}
				keys = append(keys, key)
				for _, id := range d.Orders {
					switch of, is := l.Deliveries[id]; {
					case is && of.State == order.StateSentUnlock:
						sent[key]++
					case is:
						ready[key] = append(ready[key], unlockable{id.String(), of.At, l.worthOfOrder(c.Chain, t.Token, id)})
					}
				}
			}
		}
	}
	slices.SortFunc(keys, func(a, b batchOf) int {
		return cmp.Or(cmp.Compare(a.take, b.take), cmp.Compare(a.give, b.give), cmp.Compare(a.token, b.token))
	})
	var batches []batch
	for _, key := range slices.Compact(keys) {
		if len(ready[key])+sent[key] > 0 {
			b := p.batch(key, ready[key])
			b.Sent, b.Symbol = sent[key], symbols[key]
			batches = append(batches, b)
		}
	}
	return batches
}

func (p *Views) batch(key batchOf, ready []unlockable) batch {
	b := batch{Take: p.ChainName(key.take), Give: p.ChainName(key.give), Ready: len(ready)}
	most := mostUnlockedOnEVM
	switch {
	case p.Chains.Family(key.take) == chain.SVM: // bounded by what a transaction can hold, not by a number
		return b.summed(ready)
	case p.Chains.Family(key.give) == chain.SVM:
		most = mostUnlockedOnSolana
	}
	slices.SortStableFunc(ready, func(a, b unlockable) int { return cmp.Compare(a.at, b.at) })
	b.Batches = (len(ready) + most - 1) / most
	var ids []string
	for _, each := range ready[:min(most, len(ready))] {
		ids = append(ids, each.id)
	}
	b.First = strings.Join(ids, "\n")
	return b.summed(ready)
}

func (b batch) summed(ready []unlockable) batch {
	var sum worthSum
	for _, each := range ready {
		sum.add(each.usd, 1)
	}
	b.USD = sum.text()
	return b
}
