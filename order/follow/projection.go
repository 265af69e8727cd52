package follow

import (
	"math"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/proof"
)

// Projection is the daily cost of following a chain, by JSON-RPC method.
type Projection struct {
	Looks float64
	Calls map[string]float64
}

// Total returns the number of all calls.
func (p Projection) Total() float64 {
	total := 0.0
	for _, calls := range p.Calls {
		total += calls
	}
	return total
}

// Units returns the cost of the calls, given the costs of methods; * is the cost of others, and the default is 1.
func (p Projection) Units(costs map[string]int) float64 {
	units := 0.0
	for method, calls := range p.Calls {
		cost, known := costs[method]
		if !known {
			cost = costs["*"]
		}
		units += calls * float64(max(cost, 1))
	}
	return units
}

// logsPerSecond is how many logs a busy chain emits, which fill its headers' filters: 83 on Ethereum.
const logsPerSecond = 80

// suspected returns the share of a chain's blocks whose filters do not rule out events of the order protocol. Each log
// sets up to 12 of the 2048 bits (contract, three topics). The protocol is ruled out if each of its four contracts
// lacks one of its three bits.
func suspected(blockTime time.Duration) float64 {
	bits := 12 * logsPerSecond * blockTime.Seconds()
	isSet := 1 - math.Exp(-bits/2048)
	return 1 - math.Pow(1-math.Pow(isSet, 3), 4)
}

// Project returns the cost of following a chain at a polling interval with a number of endpoints, each also asked
// for its head. Orders are not included; they take some 3 calls each.
func Project(c chain.Chain, every time.Duration, endpoints int) Projection {
	const day = float64(24 * time.Hour)
	looks, blocks := day/float64(every), day/float64(max(c.BlockTime, time.Millisecond))
	if c.Family == chain.SVM {
		return projectSolana(looks, blocks)
	}
	news := min(looks, blocks) // polls that find a new block
	each := blocks / news
	tip := min(each, order.TipRange)
	p := Projection{Looks: looks, Calls: map[string]float64{
		"eth_getBlockByNumber": looks + max(looks/4, min(looks, day/float64(15*time.Second))) + news*(tip-1),
		"eth_getLogs":          news * tip * suspected(c.BlockTime),
	}}
	if each > order.TipRange { // a list of the older ones, and a check of the block before them
		p.Calls["eth_getLogs"] += news
		p.Calls["eth_getBlockByNumber"] += 2 * news
	}
	proofs := proofsOf(blocks, each, float64(every))
	voices := float64(min(endpoints, 2))
	p.Calls["eth_getLogs"] += voices * proofs.lists
	p.Calls["eth_getBlockByNumber"] += voices*proofs.lists + proofs.headers
	// Two endpoints agree on the branch of the proven blocks, and each proves that it has the newest anchor.
	p.Calls["eth_getBlockByNumber"] += voices*proofs.lists + day/float64(15*time.Minute)
	// Every 15 s at most, endpoints prove which chain they serve, and their heads are compared.
	again := min(looks, day/float64(15*time.Second))
	p.Calls["eth_chainId"] = again * float64(endpoints+1) / 2
	if endpoints > 1 {
		p.Calls["eth_blockNumber"] = again * float64(endpoints)
	}
	return p
}

// proofs counts the second readings of a day.
type proofs struct{ lists, headers float64 }

// proofsOf returns the second readings for polls that find each blocks. Those beyond the tip rest on a single endpoint
// and are proven once there are ProvenAtOnce of them, or by their headers if they are few.
func proofsOf(blocks, each, every float64) proofs {
	const day = float64(24 * time.Hour)
	if each <= order.TipRange {
		return proofs{lists: max(blocks/proof.Together, day/float64(proof.ProvenEvery))}
	}
	together := math.Ceil(proof.ProvenAtOnce/each) * each // in whole polls
	const few = 256
	switch soon := math.Ceil(float64(proof.ProvenSoon)/every) * each; {
	case together > soon && soon <= few:
		return proofs{lists: day / float64(proof.ProvenSoon), headers: blocks}
	case together > soon:
		return proofs{lists: day / float64(proof.ProvenSoon)}
	}
	return proofs{lists: blocks / min(together, proof.Together)}
}

// projectSolana returns the cost of following Solana: a poll takes its head, in three calls, and the transactions of
// two programs between two blocks, with a list of the blocks if these are many.
func projectSolana(looks, blocks float64) Projection {
	const many = 32
	proofs := blocks / proof.Together
	p := Projection{Looks: looks, Calls: map[string]float64{
		"getSlot": 2 * looks, "getBlock": 4*looks + 2*proofs, "getSignaturesForAddress": 3 * (looks + proofs), "getBlocks": proofs,
	}}
	if blocks > many*looks {
		p.Calls["getBlocks"] += looks
	}
	return p
}
