package evm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// Windows in which an order's logs are searched from its time on. Solvers deliver within minutes, so the first one is
// usually enough; on a young chain it holds everything.
const (
	windowBlocks = 5000
	windowLimit  = 3
)

// search finds one order's logs without an index.
type search struct {
	ledger
	chain *Chain
	rpc   *jsonrpc.Client
	id    order.ID

	latest  header
	guessed *header        // a block that is probably a little older than the order
	steps   int            // number of steps that there must be
	patched chain.Amount   // sum of the amount's changes
	known   order.Standing // standing of steps and patched

	from, to  uint64       // searched blocks: missing steps are in later ones
	found     int          // steps among logs
	lastPatch uint64       // block of the newest change of the amount among logs
	amount    chain.Amount // amount after that change
	original  chain.Amount // amount in the order's terms; zero: no log has these
	logs      []log
	listedBy  []string            // endpoints that listed logs
	gap       *order.PartialError // blocks that were not searched; nil: none

	call     chain.ContractCall // asks whether the external call is over; To is absent unless one was registered
	callOver bool               // according to logs
	delivery log                // of an order with a call; zero: not among the logs
}

func (s *search) run(ctx context.Context, since uint64) (read order.Evidence, err error) {
	if err := s.readStorage(ctx, since); err != nil || s.steps == 0 && s.patched.IsZero() {
		return order.Evidence{Standing: s.known}, err
	}
	if err := s.scan(ctx, since); err != nil && !isPruned(err) {
		return read, err
	}
	if !s.isComplete() || !s.accountsForPatches() {
		if err := s.bisect(ctx); err != nil {
			return read, err
		}
	}
	if err := s.endCall(ctx); err != nil {
		return read, err
	}
	read, err = s.events(ctx)
	if err == nil && s.gap != nil {
		return read, s.gap
	}
	return read, err
}

// bisect finds events that the searched logs lack in the state of past blocks or, if no endpoint has that, in the logs
// up to the newest block.
func (s *search) bisect(ctx context.Context) error {
	if !s.chain.isTron {
		err := s.bisectSteps(ctx)
		if err == nil && !s.accountsForPatches() {
			err = s.bisectPatches(ctx)
		}
		if !isPruned(err) {
			return err
		}
		if err := s.scanOn(ctx, s.isComplete); err != nil || s.gap != nil {
			return err
		}
	}
	if s.isComplete() || s.gap != nil {
		return nil
	}
	return fmt.Errorf("chain %d: order %s has taken %d steps according to storage, %d according to logs", s.chain.chain.ID, s.id, s.steps, s.found)
}

// isComplete reports whether everything has been found. The amount may have changed again after the blocks that were
// searched.
func (s *search) isComplete() bool {
	return s.found >= s.steps && (s.patched.IsZero() || s.lastPatch > 0 && s.to >= uint64(s.latest.Number))
}

// readStorage reads how far the order has come, the newest block and, if its number can be guessed, a block just before
// since, in one round trip.
func (s *search) readStorage(ctx context.Context, since uint64) error {
	var steps, patched Payload
	var latest *header
	calls := []*jsonrpc.Call{
		s.confirmed(s.progress, &steps, s.compareSteps), s.confirmed(s.changes, &patched, bytes.Compare), headerCall(&latest, newestTag),
	}
	if guess, known := s.chain.guess(since); known {
		calls = append(calls, s.chain.laterTimeCall(&s.guessed, guess))
	}
	s.rpc.Batching().Each(ctx, calls...)
	s.known = order.Intrinsic
	for i, call := range calls[:3] {
		// Contracts that never changed amounts need not have the function.
		if call.Err != nil && (call != calls[1] || !refusedByContract(call.Err)) {
			return call.Err
		}
		if i < 2 && call.Err == nil {
			s.known = min(s.known, standingOf(call, false))
		}
	}
	s.latest = *latest.saidBy(calls[2].By)
	s.chain.sawHead(latest)
	var err error
	if s.steps, err = s.stepsIn(steps); err != nil {
		return err
	}
	s.patched, err = onchain.DecodePatches(patched)
	return err
}

// confirmed returns a call that a second voice confirms. Orders only move on: the greater answer by compare counts.
func (s *search) confirmed(asked chain.ContractCall, out *Payload, compare func(a, b []byte) int) *jsonrpc.Call {
	made := callNow(out, asked)
	made.Twice = true
	return furthest(made, compare)
}

// furthest makes a doubted call take the answer that is further by compare.
func furthest(call *jsonrpc.Call, compare func(a, b []byte) int) *jsonrpc.Call {
	jsonrpc.Prefer(call, func(a, b Payload) int { return compare(a, b) })
	call.Same = func(a, b any) bool { return bytes.Equal(*a.(*Payload), *b.(*Payload)) }
	return call
}

func (s *search) compareSteps(a, b []byte) int {
	own, _ := s.stepsIn(a)
	other, _ := s.stepsIn(b)
	return cmp.Compare(own, other)
}

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

// scan reads windows of logs from since on until everything is found, but only a few of them if there is another way.
// If since is unknown and there is none, it reads the newest windows.
func (s *search) scan(ctx context.Context, since uint64) error {
	latest := uint64(s.latest.Number)
	isTimeless := since == 0 && latest >= windowBlocks
	if isTimeless && !s.chain.isTron {
		return nil
	}
	var err error
	if isTimeless {
		s.from = latest - min(latest, windowLimit*windowBlocks)
	} else if s.from, err = s.chain.blockBefore(ctx, since, s.latest, s.guessed); err != nil {
		return err
	}
	from := s.from
	for windows := 0; from <= latest && !s.isComplete() && (windows < windowLimit || s.chain.isTron); windows++ {
		to := min(from+windowBlocks-1, latest)
		if err := s.collect(ctx, from, to); err != nil {
			return err
		}
		from, s.to = to+1, to
	}
	if isTimeless && s.from > 0 && !s.isComplete() {
		s.lack(0, s.from-1, errTooLong)
	}
	return nil
}

// bisectSteps finds the steps that are still missing: those after the found ones or, if a list has omitted an earlier
// one, from the beginning.
func (s *search) bisectSteps(ctx context.Context) error {
	before := max(s.from, 1) - 1
	if s.found > 0 {
		err := s.bisectFrom(ctx, uint64(s.logs[len(s.logs)-1].BlockNumber), s.found+1)
		if s.found == s.steps || isPruned(err) || ctx.Err() != nil {
			return err
		}
	}
	return s.bisectFrom(ctx, before, 1)
}

// bisectFrom finds missing steps from step on, which comes after the block before.
func (s *search) bisectFrom(ctx context.Context, before uint64, step int) error {
	for ; step <= s.steps && s.found < s.steps; step++ {
		found := s.found
		block, err := s.firstBlock(ctx, before, s.progress, func(answer []byte) (bool, error) {
			steps, err := s.stepsIn(answer)
			return steps >= step, err
		})
		if err == nil {
			isIn := func(l log) bool { return uint64(l.BlockNumber) == block }
			isFound := func() bool { return s.found > found || slices.ContainsFunc(s.logs, isIn) }
			err = s.readBlock(ctx, block, fmt.Sprintf("step %d", step), isFound)
		}
		if err != nil {
			return err
		}
		before = block - 1 // it may hold the next step, too
	}
	return nil
}

// readBlock reads the logs of a block, which must make isFound return true.
func (s *search) readBlock(ctx context.Context, block uint64, what string, isFound func() bool) error {
	err := s.collect(ctx, block, block)
	if err == nil && !isFound() {
		err = s.collectProven(ctx, block)
	}
	switch {
	case err != nil:
		return fmt.Errorf("block of %s of order %s: %w", what, s.id, err)
	case !isFound():
		return fmt.Errorf("chain %d: block %d has no event for %s of order %s, which changed its storage", s.chain.chain.ID, block, what, s.id)
	}
	return nil
}

// probes is how many past blocks are read in one round trip.
const probes = 16

// firstBlock returns the first block in which something has happened, judging by the answers of storage to a call: it
// has not happened in the block before, but has in the newest.
func (s *search) firstBlock(
	ctx context.Context, before uint64, asked chain.ContractCall, happened func(answer []byte) (bool, error),
) (uint64, error) {
	last := uint64(s.latest.Number)
	for last-before > 1 {
		blocks := spread(before, last)
		answers, calls := make([]Payload, len(blocks)), make([]*jsonrpc.Call, len(blocks))
		for i, block := range blocks {
			calls[i] = s.past(asked, &answers[i], block)
		}
		if err := s.rpc.All(ctx, calls...); err != nil {
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

var errNoState = errors.New("contract is missing")

// past returns a call at a past block. An empty answer takes a second voice; after the order's creation it is an error.
func (s *search) past(asked chain.ContractCall, out *Payload, block uint64) *jsonrpc.Call {
	isThere := func(answer Payload) error {
		if len(answer) == 0 && s.from > 0 {
			return errNoState
		}
		return nil
	}
	call := jsonrpc.NewCall(out, isThere, "eth_call", Message{To: asked.To, Data: asked.Data}, Quantity(block))
	call.Reach = s.chain.reach(block)
	call.Reach.State = true
	call.Doubt = func(result any) bool { return len(*result.(*Payload)) == 0 }
	return furthest(call, bytes.Compare)
}

// spread returns up to probes numbers, evenly spaced between before and last.
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
	logs, by, err := s.chain.list(ctx, s.rpc, from, to, listing{contracts: s.emitters, isCounted: true})
	if err != nil {
		return err
	}
	s.listedBy = append(s.listedBy, by...)
	return s.take(logs)
}

// collectProven is collect for a block that has more than its lists, by its receipts. If these are unavailable, or do
// not match the root in the block's header, it adds nothing.
func (s *search) collectProven(ctx context.Context, block uint64) error {
	headers, err := s.chain.headersOf(ctx, s.rpc, block)
	if err != nil {
		return err
	}
	receipts, _, err := s.chain.receiptsOf(ctx, headers[0])
	if err != nil && !isWithoutReceipts(err) {
		return err
	}
	var logs []log
	for _, r := range receipts {
		isOther := func(l log) bool { return !l.isOfProtocol() || !slices.Contains(s.emitters, l.Address) }
		logs = append(logs, slices.DeleteFunc(r.Logs, isOther)...)
	}
	return s.take(logs)
}

func (s *search) take(logs []log) error {
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
	s.logs = merged([][]log{s.logs, nil})
	return nil
}

// see records a log that states fact about the order.
func (s *search) see(l log, fact order.Fact) {
	s.seeAmount(uint64(l.BlockNumber), fact)
	if is[order.Created](fact) && !s.isStep(fact) {
		return // it is known
	}
	if len(unlisted([]log{l}, s.logs)) > 0 {
		s.logs = append(s.logs, l)
		if s.isStep(fact) {
			s.found++
		}
	}
	s.seeCall(l, fact)
}

func (s *search) events(ctx context.Context) (order.Evidence, error) {
	read, err := s.chain.settledEvents(ctx, s.logs, s.chain.aroundAll(s.rpc, s.logs))
	if err != nil {
		return order.Evidence{}, err
	}
	read.Standing, read.Wrong = min(read.Standing, s.known), s.chain.faulty.Unreported()
	read.Events = slices.DeleteFunc(read.Events, func(e order.Event) bool { return e.Order != s.id })
	if len(read.Events) < s.steps && s.gap == nil {
		return order.Evidence{}, errors.New("receipts lack events of the logs")
	}
	return read, nil
}
