package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// Windows in which an order's logs are searched from its time on. Solvers deliver within minutes, so the first one is
// mostly enough; on a young chain it holds everything.
const (
	windowBlocks = 5000
	windowLimit  = 3
)

// search finds one order's logs without an index.
type search struct {
	ledger
	chain *Chain
	id    order.ID

	latest  header
	guessed *header      // a block that may well be a little older than the order
	steps   int          // that there must be
	patched chain.Amount // what changes of the amount add up to

	from, to   uint64 // searched blocks: missing steps are in later ones
	found      int    // steps among logs
	foundPatch bool
	logs       []log
	gap        *order.PartialError // blocks that were not searched; nil: none

	call     contractCall // whether its external call is over; to is absent unless one was registered
	callOver bool         // according to logs
}

func (s *search) run(ctx context.Context, since uint64) ([]order.Event, error) {
	if err := s.readStorage(ctx, since); err != nil || s.isEmpty() {
		return nil, err
	}
	if err := s.scan(ctx, since); err != nil && !isPruned(err) {
		return nil, err
	}
	if !s.isComplete() {
		if err := s.bisect(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.endCall(ctx); err != nil {
		return nil, err
	}
	events, err := s.events(ctx)
	if err == nil && s.gap != nil {
		return events, s.gap
	}
	return events, err
}

// bisect finds what the logs that were searched lack in the state of past blocks, or where no endpoint has that in the
// logs up to the newest block.
func (s *search) bisect(ctx context.Context) error {
	if !s.chain.isTron {
		err := s.bisectSteps(ctx)
		if err == nil && !s.isComplete() {
			s.foundPatch = false
			_, err = s.locate(ctx, max(s.from, 1)-1, "the last patch", s.changes(), func(answer Payload) (bool, error) {
				patched, err := onchain.DecodePatches(answer)
				return patched.Cmp(s.patched) >= 0, err
			}, func() bool { return s.foundPatch })
		}
		if !isPruned(err) {
			return err
		}
		if err := s.scanOn(ctx, s.isComplete); err != nil || s.gap != nil {
			return err
		}
	}
	if s.isComplete() {
		return nil
	}
	return fmt.Errorf("chain %d: order %s has taken %d steps by its storage, the logs have %d", s.chain.chain.ID, s.id, s.steps, s.found)
}

func (s *search) isEmpty() bool { return s.steps == 0 && s.patched.IsZero() }

// isComplete reports whether everything is found. The amount can have been changed again after the blocks
// that were searched.
func (s *search) isComplete() bool {
	return s.found >= s.steps && (s.patched.IsZero() || s.foundPatch && s.to >= uint64(s.latest.Number))
}

// readStorage asks how far the order has come, which block is the newest, and for a block just before since
// as far as its number can be guessed, in one round trip.
func (s *search) readStorage(ctx context.Context, since uint64) error {
	var steps, patched Payload
	var latest *header
	calls := []*jsonrpc.Call{
		s.progress().on(&steps, "latest"), s.changes().on(&patched, "latest"), headerCall(&latest, newestTag),
	}
	if guess, known := s.chain.guess(since); known {
		calls = append(calls, headerCall(&s.guessed, Quantity(guess)))
	}
	s.chain.rpc.Each(ctx, calls...)
	for _, call := range calls[:3] {
		// Contracts that never changed amounts need not have the function.
		if call.Err != nil && (call != calls[1] || !refusedByContract(call.Err)) {
			return call.Err
		}
	}
	s.latest = *latest
	s.chain.sawHead(latest)
	var err error
	if s.steps, err = s.stepsIn(steps); err != nil {
		return err
	}
	s.patched, err = onchain.DecodePatches(patched)
	return err
}

// progress asks how far the order has come, changes by how much its amount was changed.
func (s *search) progress() contractCall { return contractCall{s.contract, s.progressData(s.id)} }
func (s *search) changes() contractCall  { return contractCall{s.contract, s.patchesData(s.id)} }

func (s *search) stepsIn(answer Payload) (int, error) {
	if len(answer) == 0 {
		return 0, nil // the contract did not exist yet
	}
	steps, err := s.ledger.steps(answer)
	if err != nil {
		return 0, fmt.Errorf("chain %d: order %s: %w", s.chain.chain.ID, s.id, err)
	}
	return steps, nil
}

// scan reads windows of logs from since on until everything is found, but not without end if there is
// another way.
func (s *search) scan(ctx context.Context, since uint64) error {
	latest := uint64(s.latest.Number)
	if since == 0 && latest >= windowBlocks {
		return nil
	}
	var err error
	if s.from, err = s.chain.blockBefore(ctx, since, s.latest, s.guessed); err != nil {
		return err
	}
	from := s.from
	for windows := 0; windows < windowLimit || s.chain.isTron; windows++ {
		if s.isComplete() || from > latest {
			break
		}
		to := min(from+windowBlocks-1, latest)
		if err := s.collect(ctx, from, to); err != nil {
			return err
		}
		from, s.to = to+1, to
	}
	return nil
}

// bisectSteps finds the steps that are still missing.
func (s *search) bisectSteps(ctx context.Context) (err error) {
	before := max(s.from, 1) - 1
	if s.found > 0 {
		before = uint64(s.logs[len(s.logs)-1].BlockNumber)
	}
	for err == nil && s.found < s.steps {
		step := s.found + 1
		before, err = s.locate(ctx, before, fmt.Sprintf("step %d", step), s.progress(), func(answer Payload) (bool, error) {
			steps, err := s.stepsIn(answer)
			return steps >= step, err
		}, func() bool { return s.found >= step })
	}
	return err
}

// locate finds the first block after before in which something has happened by what storage answers to a call, and
// reads its logs, which must have it.
func (s *search) locate(
	ctx context.Context, before uint64, what string, asked contractCall, happened func(Payload) (bool, error), isFound func() bool,
) (block uint64, err error) {
	if block, err = s.firstBlock(ctx, before, asked, happened); err == nil {
		err = s.collect(ctx, block, block)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("block of %s of order %s: %w", what, s.id, err)
	case !isFound():
		return 0, fmt.Errorf("chain %d: block %d has no event of %s of order %s, which changed storage", s.chain.chain.ID, block, what, s.id)
	}
	return block, nil
}

// probes is how many past blocks are asked in one round trip.
const probes = 16

// firstBlock returns the first block in which something has happened by what storage answers to a call:
// after before, in which it has not, and not after the newest, in which it has.
func (s *search) firstBlock(
	ctx context.Context, before uint64, asked contractCall, happened func(answer Payload) (bool, error),
) (uint64, error) {
	last := uint64(s.latest.Number)
	for last-before > 1 {
		blocks := spread(before, last)
		answers := make([]Payload, len(blocks))
		calls := make([]*jsonrpc.Call, len(blocks))
		for i, block := range blocks {
			calls[i] = asked.on(&answers[i], Quantity(block))
			calls[i].Reach = s.chain.stateAt(block)
		}
		if err := s.chain.rpc.All(ctx, calls...); err != nil {
			return 0, err
		}
		for i, block := range blocks {
			reached, err := happened(answers[i])
			if err != nil {
				return 0, err
			}
			if reached {
				last = block
				break
			}
			before = block
		}
	}
	return last, nil
}

// spread returns up to probes numbers between before and last, evenly.
func spread(before, last uint64) []uint64 {
	count := min(last-before-1, probes)
	blocks := make([]uint64, count)
	for i := range blocks {
		blocks[i] = before + (last-before)*uint64(i+1)/(count+1)
	}
	return blocks
}

// collect adds the order's logs of a range of blocks.
func (s *search) collect(ctx context.Context, from, to uint64) error {
	logs, err := s.chain.logs(ctx, from, to, s.emitters...)
	if err != nil {
		return err
	}
	for _, l := range logs {
		if !bytes.Contains(l.Data, s.id[:]) {
			continue
		}
		facts, err := s.chain.facts(&receipt{TransactionHash: l.TransactionHash, Logs: []log{l}})
		if err != nil {
			return err
		}
		for _, fact := range facts {
			if fact.Order == s.id {
				s.see(l, fact.Fact)
			}
		}
	}
	return nil
}

// see takes a log that says fact about the order.
func (s *search) see(l log, fact order.Fact) {
	if is[order.Created](fact) && !s.isStep(fact) {
		return // it is known
	}
	s.logs = append(s.logs, l)
	if s.isStep(fact) {
		s.found++
	}
	s.foundPatch = s.foundPatch || s.isPatch(fact)
	s.seeCall(l, fact)
}

// events reads the transactions of the logs that were found.
func (s *search) events(ctx context.Context) ([]order.Event, error) {
	all, err := s.chain.eventsAround(ctx, s.logs)
	if err != nil {
		return nil, err
	}
	var events []order.Event
	for _, e := range all {
		if e.Order == s.id {
			events = append(events, e)
		}
	}
	if len(events) < s.steps && s.gap == nil {
		return nil, errors.New("receipts lack events that the logs had")
	}
	return events, nil
}
