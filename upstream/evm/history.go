package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// History returns the events that one side of an order left on this chain, without the creation when since is its
// time; see order.Reader. The contract's storage says how many steps there are and whether the amounts were
// changed. They are searched in the logs from since on, then by storage at past blocks, which takes an archive; without
// one, in logs up to the newest block, as far as endpoints have them and time allows: *order.PartialError names the
// gaps. So is the end of a registered external call. A step that endpoints of other providers do not have either is an
// error.
func (c *Chain) History(ctx context.Context, id order.ID, side order.Side, since uint64) (read order.Evidence, err error) {
	asked := c.ledger(id, side, since != 0)
	if asked.progress.To.IsAbsent() {
		return read, fmt.Errorf("chain %d: no contract is configured that stores order %s", c.chain.ID, id)
	}
	var s search
	ask := func(rpc *jsonrpc.Client) (isOver bool) {
		s = search{chain: c, rpc: rpc, ledger: asked, id: id}
		read, err = s.run(ctx, since)
		return !isContradiction(err) || ctx.Err() != nil
	}
	isOver := ask(c.rpc)
	for again := 0; again < contradictions && !isOver; again++ {
		others := c.beside(append(s.listedBy, s.latest.by), again)
		if others.AvoidsAll() {
			break
		}
		isOver = ask(others)
	}
	if !isOver {
		c.rpc.OneByOne(getLogs, func(alone *jsonrpc.Client) bool { return ask(alone) && upstream.ClassOf(err) == 0 })
	}
	return read, err
}

// contradictions is how often endpoints that contradict each other are asked again, before each is by itself. Some
// answer another question at times: then the steps that their storage is ahead by are searched for in vain.
const contradictions = 3

// beside returns a client that prefers endpoints that did not list logs or, if all did, avoids one of them in turn.
func (c *Chain) beside(listed []string, turn int) *jsonrpc.Client {
	if others := c.rpc.Avoiding(listed...); !others.AvoidsAll() || len(listed) == 0 {
		return others
	}
	return c.rpc.Avoiding(listed[turn%len(listed)])
}

// isContradiction reports whether endpoints answered, and their answers contradict each other, or the newest block.
func isContradiction(err error) bool {
	_, isEarly := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.NotYet })
	return isEarly || errors.Is(err, errNoBlock) || err != nil && upstream.ClassOf(err) == 0 && !errors.As(err, new(*order.PartialError)) || errors.As(err, new(*order.UnreadableError))
}

// ledger describes one side of an order on a chain: what the contract that stores its progress is asked, and the
// contracts that emit events about it.
type ledger struct {
	emitters []chain.Address

	progress chain.ContractCall // reads how far the order has come
	steps    func(answer []byte) (int, error)
	isStep   func(order.Fact) bool

	changes chain.ContractCall // reads by how much its amount was changed
	isPatch func(order.Fact) bool
}

// ledger returns the ledger of a side of an order; a known creation is not counted as a step.
func (c *Chain) ledger(id order.ID, side order.Side, creationKnown bool) ledger {
	contracts := c.chain.Contracts
	if side == order.TakeSide {
		return ledger{
			emitters: slices.DeleteFunc([]chain.Address{contracts.DlnDestination, contracts.ExternalCallAdapter}, chain.Address.IsAbsent),
			progress: chain.ContractCall{To: contracts.DlnDestination, Data: onchain.TakeOrderCall(id)},
			steps:    takeSteps,
			isStep:   isTakeStep,
			changes:  chain.ContractCall{To: contracts.DlnDestination, Data: onchain.TakePatchesCall(id)},
			isPatch:  is[order.TakeDecreased],
		}
	}
	give := ledger{
		emitters: []chain.Address{contracts.DlnSource},
		progress: chain.ContractCall{To: contracts.DlnSource, Data: onchain.GiveOrderCall(id)},
		steps:    giveSteps,
		isStep:   isGiveStep,
		changes:  chain.ContractCall{To: contracts.DlnSource, Data: onchain.GivePatchesCall(id)},
		isPatch:  is[order.GiveIncreased],
	}
	if creationKnown {
		give.steps, give.isStep = stepsAfterCreation, is[order.Claimed]
	}
	return give
}

// giveSteps counts the steps that DlnSource's answer shows: created, claimed.
func giveSteps(answer []byte) (int, error) {
	stored, err := onchain.DecodeGiveOrder(answer)
	switch stored.State {
	case order.None:
		return 0, err
	case order.StateCreated:
		return 1, err
	}
	return 2, err
}

func stepsAfterCreation(answer []byte) (int, error) {
	steps, err := giveSteps(answer)
	return max(steps, 1) - 1, err
}

// takeSteps counts the steps that DlnDestination's answer shows: fulfilled, unlock sent; or cancelled.
func takeSteps(answer []byte) (int, error) {
	stored, err := onchain.DecodeTakeOrder(answer)
	switch stored.State {
	case order.None:
		return 0, err
	case order.StateSentUnlock:
		return 2, err
	}
	return 1, err
}

func is[F order.Fact](fact order.Fact) bool {
	_, same := fact.(F)
	return same
}

func isGiveStep(fact order.Fact) bool { return is[order.Created](fact) || is[order.Claimed](fact) }
func isTakeStep(fact order.Fact) bool { return is[order.Fulfilled](fact) || is[order.Sent](fact) }
