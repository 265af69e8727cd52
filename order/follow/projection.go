package follow

import (
	"math"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/proof"
)

// Projection is what following a chain takes in a day, by JSON-RPC method.
type Projection struct {
	Looks float64
	Calls map[string]float64
}

// Total is the number of all calls.
func (p Projection) Total() float64 {
	total := 0.0
	for _, calls := range p.Calls {
		total += calls
	}
	return total
}

// Units returns what the calls cost where methods have costs, * any other one; 1 without.
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

// logsPerSecond is how many logs a busy chain has, by which the filters in its headers fill up: 83 on Ethereum.
const logsPerSecond = 80

// suspected is the share of a chain's blocks whose filter does not rule the order protocol out: each of a block's logs
// sets up to 12 bits of 2048 (the contract, three topics), and the protocol is ruled out when none of its four
// contracts has its three bits.
func suspected(blockTime time.Duration) float64 {
	bits := 12 * logsPerSecond * blockTime.Seconds()
	isSet := 1 - math.Exp(-bits/2048)
	return 1 - math.Pow(1-math.Pow(isSet, 3), 4)
}

// Project returns what following a chain takes when it is looked at so often, by so many endpoints, each asked for
// its head too, without orders: those come on top, some 3 calls each.
func Project(c chain.Chain, every time.Duration, endpoints int) Projection {
	const day = float64(24 * time.Hour)
	looks, blocks := day/float64(every), day/float64(max(c.BlockTime, time.Millisecond))
	if c.Family == chain.SVM {
		return projectSolana(looks, blocks)
	}
	news := min(looks, blocks) // looks that find a new block
	each := blocks / news
	tip := min(each, order.TipRange)
	p := Projection{Looks: looks, Calls: map[string]float64{
		"eth_getBlockByNumber": looks + max(looks/4, min(looks, day/float64(15*time.Second))) + news*(tip-1),
		"eth_getLogs":          news * tip * suspected(c.BlockTime),
	}}
	if each > order.TipRange { // a list of the older ones, and whether the one before them still stands
		p.Calls["eth_getLogs"] += news
		p.Calls["eth_getBlockByNumber"] += 2 * news
	}
	proofs := proofsOf(blocks, each, float64(every))
	voices := float64(min(endpoints, 2))
	p.Calls["eth_getLogs"] += voices * proofs.lists
	p.Calls["eth_getBlockByNumber"] += voices*proofs.lists + proofs.headers
	// Two endpoints agree on the branch of the proven blocks, and each proves that it has the newest anchor.
	p.Calls["eth_getBlockByNumber"] += voices*proofs.lists + day/float64(15*time.Minute)
	// Endpoints prove which chain they serve, and their heads are compared, every 15 s at most.
	again := min(looks, day/float64(15*time.Second))
	p.Calls["eth_chainId"] = again * float64(endpoints+1) / 2
	if endpoints > 1 {
		p.Calls["eth_blockNumber"] = again * float64(endpoints)
	}
	return p
}

// proofs are the second readings of a day.
type proofs struct{ lists, headers float64 }

// proofsOf counts them where each look brings so many blocks: those beyond the tip rest on one endpoint's word and are
// proven when provenAtOnce have come together, few of them by their headers.
func proofsOf(blocks, each, every float64) proofs {
	const day = float64(24 * time.Hour)
	if each <= order.TipRange {
		return proofs{lists: max(blocks/proof.Together, day/float64(proof.ProvenEvery))}
	}
	together := math.Ceil(proof.ProvenAtOnce/each) * each // by whole looks
	const few = 256
	switch soon := math.Ceil(float64(proof.ProvenSoon)/every) * each; {
	case together > soon && soon <= few:
		return proofs{lists: day / float64(proof.ProvenSoon), headers: blocks}
	case together > soon:
		return proofs{lists: day / float64(proof.ProvenSoon)}
	}
	return proofs{lists: blocks / min(together, proof.Together)}
}

// projectSolana counts a look at Solana: its head in three calls, and the transactions of two programs between two
// blocks.
func projectSolana(looks, blocks float64) Projection {
	proofs := blocks / proof.Together
	return Projection{Looks: looks, Calls: map[string]float64{
		"getSlot": 2 * looks, "getBlock": 4*looks + 2*proofs, "getSignaturesForAddress": 3 * (looks + proofs),
	}}
}
