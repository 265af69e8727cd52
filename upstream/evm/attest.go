package evm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/evm/seal"
	"crossgate/upstream/jsonrpc"
)

// attestation holds the calls that prove senders and times: for transactions, by their hashes, and for headers, by the
// hashes of blocks.
type attestation struct{ senders, times map[chain.Hash]*jsonrpc.Call }

func newAttestation() attestation {
	return attestation{senders: make(map[chain.Hash]*jsonrpc.Call), times: make(map[chain.Hash]*jsonrpc.Call)}
}

// add adds the calls about a transaction in a block.
func (a *attestation) add(tx, block chain.Hash) {
	if a.senders[tx] == nil {
		a.senders[tx] = senderCall(new(new(provenSender)), tx)
	}
	a.addTime(block)
}

func (a *attestation) addTime(block chain.Hash) {
	if a.times[block] == nil {
		a.times[block] = timeCall(new(new(header)), block)
	}
}

// calls returns the calls that were not made yet.
func (a *attestation) calls() []*jsonrpc.Call {
	all := slices.AppendSeq(slices.Collect(maps.Values(a.senders)), maps.Values(a.times))
	return slices.DeleteFunc(all, func(call *jsonrpc.Call) bool { return call.By != "" || call.Err != nil })
}

// apply sets the senders and times of events, once the calls are made, and returns their standing.
func (a *attestation) apply(events []order.Event) order.Standing {
	weakest := order.Intrinsic
	for i := range events {
		e := &events[i]
		sender, time := new(provenSender), new(header)
		sent, timed := a.senders[chain.Hash(e.At.Tx.Bytes())], a.times[e.At.BlockHash]
		if sent != nil && sent.Err == nil {
			sender = *sent.Out.(**provenSender)
		}
		if timed != nil && timed.Err == nil {
			time = *timed.Out.(**header)
			if e.At.Time == 0 || standingOf(timed, time.isProven) > order.Single { // else the log's time is as good
				e.At.Time = uint64(time.Timestamp)
			}
		}
		weakest = min(weakest, standingOf(sent, sender.isProven), standingOf(timed, time.isProven))
		if !sender.From.IsAbsent() && !e.At.Initiator.IsAbsent() { // a swap's initiator is unknown
			e.At.Initiator = sender.From
		}
	}
	return weakest
}

// standingOf returns the standing of a call's result; isProven says that a hash proves it.
func standingOf(call *jsonrpc.Call, isProven bool) order.Standing {
	switch isMade := call != nil && call.Err == nil; {
	case isMade && isProven:
		return order.Intrinsic
	case isMade && call.Seconded != "":
		return order.Corroborated
	}
	return order.Single
}

// Attest implements order.Source.
func (c *Chain) Attest(ctx context.Context, events []order.Event) (order.Evidence, error) {
	a := newAttestation()
	for _, e := range events {
		a.add(chain.Hash(e.At.Tx.Bytes()), e.At.BlockHash)
	}
	calls := a.calls()
	_ = c.rpc.Batching().Batch(ctx, calls...) // each call has its error
	c.faulty.Judge(calls...)
	events = slices.Clone(events)
	return order.Evidence{Standing: a.apply(events), Events: events, Wrong: c.faulty.Unreported()}, ctx.Err()
}

// confirm asks other endpoints to confirm the receipt that one of them returned.
func (c *Chain) confirm(ctx context.Context, asked *jsonrpc.Call, found **receipt, mined uint64) order.Evidence {
	c.rpc.Confirm(ctx, asked, c.says((*found).BlockHash))
	standing := c.settle(ctx, asked)
	return order.Evidence{Events: c.eventsIn(*found, mined), Standing: standing, Wrong: c.faulty.Unreported()}
}

// says returns what a receipt, which is pointed to, says of its sender and of orders; nothing where it is absent or of
// another branch.
func (c *Chain) says(block chain.Hash) func(any) string {
	return func(result any) string {
		if r := *result.(**receipt); r != nil && r.BlockHash == block {
			return r.From.String() + " " + order.Say(c.eventsIn(r, 0))
		}
		return ""
	}
}

// settle returns how a receipt is known that two endpoints were asked for. Where they differ a third decides, or all
// receipts of the block and the transaction's signature, and those that said otherwise are marked.
func (c *Chain) settle(ctx context.Context, asked *jsonrpc.Call) order.Standing {
	standing, found := standingOf(asked, false), asked.Out.(**receipt)
	if standing == order.Single && len(asked.Contradicting()) > 0 {
		one, sender, h := **found, new(provenSender), (*header)(nil) // others may have the receipt, too
		sent, timed := senderCall(&sender, one.TransactionHash), timeCall(&h, one.BlockHash)
		c.rpc.Each(ctx, sent, timed)
		facts := func(result any) string { _, facts, _ := strings.Cut(asked.Says(result), " "); return facts }
		if len(asked.Unlike(func(a, b any) bool { return facts(a) == facts(b) })) == 0 {
			standing = order.Corroborated // but for the sender
		} else if timed.Err == nil {
			receipts, known, _ := c.receiptsOf(ctx, h.saidBy(timed.By))
			if i := slices.IndexFunc(receipts, func(r receipt) bool { return r.TransactionHash == one.TransactionHash }); i >= 0 {
				one, standing = receipts[i], known
			}
		}
		if sent.Err == nil {
			one.From = sender.From
		}
		*found, standing = &one, min(standing, standingOf(sent, sender.isProven))
	}
	if standing > order.Single {
		c.faulty.Mark(asked.Contradicting()...)
	}
	return standing
}

// senderCall asks for a transaction, which many nodes have only of recent blocks. A sender that no signature proves is
// doubted.
func senderCall(out **provenSender, tx chain.Hash) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, func(s *provenSender) error {
		if s == nil || s.Hash != tx || s.From.IsAbsent() {
			return &upstream.Error{Class: upstream.Rejected, Err: fmt.Errorf("node does not have transaction %s", tx)}
		}
		return nil
	}, getTransaction, tx)
	asked.Lasting = true
	asked.Doubt = func(result any) bool { return !(*result.(**provenSender)).isProven }
	asked.Same = func(a, b any) bool { return (*a.(**provenSender)).From == (*b.(**provenSender)).From }
	return asked
}

// timeCall returns a call for the header of a block, whose time is doubted unless the header's members give its hash.
func timeCall(out **header, block any) *jsonrpc.Call {
	asked := existingHeaderCall(out, block)
	asked.Doubt = func(result any) bool { return !(*result.(**header)).isProven }
	asked.Same = func(a, b any) bool { return (*a.(**header)).Timestamp == (*b.(**header)).Timestamp }
	return asked
}

// provenSender is the sender of a transaction, and whether the signature in a transaction with that hash proves it.
type provenSender struct {
	Hash     chain.Hash    `json:"hash"`
	From     chain.Address `json:"from"`
	isProven bool
}

func (p *provenSender) UnmarshalJSON(text []byte) error {
	type plain provenSender
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	signer, hash, err := seal.Signer(text)
	if p.isProven = err == nil && hash == p.Hash; p.isProven {
		p.From = signer
	}
	return nil
}
