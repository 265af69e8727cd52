package evm

import (
	"bytes"
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// seeCall learns from a log how far the order's external call has come.
func (s *search) seeCall(l log, fact order.Fact) {
	switch f := fact.(type) {
	case order.Fulfilled:
		if f.Terms.HasExternalCall() {
			s.delivery = l
		}
	case order.ExternalCall:
		if f.Step == order.CallRegistered {
			s.call = chain.ContractCall{To: l.Address, Data: onchain.CallStatusCall(l.Data)}
		}
		s.callOver = s.callOver || f.Step != order.CallRegistered
	}
}

// beginCall reads the receipt of a delivery with a call if the searched logs have nothing about the call.
func (s *search) beginCall(ctx context.Context) error {
	if s.delivery.TransactionHash.IsAbsent() || s.callOver || !s.call.To.IsAbsent() {
		return nil
	}
	var r *receipt
	asked := s.chain.minedReceiptCall(&r, s.delivery.TransactionHash, s.delivery.BlockHash)
	asked.Twice = true
	err := s.rpc.All(ctx, asked)
	if err == nil {
		s.known = min(s.known, s.chain.settle(ctx, asked))
		return s.take(r.Logs)
	} else if isUnreadable(err) {
		return nil // the log is not the chain's: events settles it
	}
	return err
}

// endCall finds the end of a registered external call that the searched logs lack. Calls may be executed much later, so
// the adapter is asked first whether it has happened at all.
func (s *search) endCall(ctx context.Context) error {
	if err := s.beginCall(ctx); err != nil || s.callOver || s.call.To.IsAbsent() {
		return err
	}
	var now Payload
	asked := s.confirmed(s.call, &now, bytes.Compare)
	err := s.rpc.All(ctx, asked)
	if refusedByContract(err) || err == nil && len(now) == 0 { // an adapter without that function
		return s.endCallByLists(ctx)
	}
	if err != nil {
		return err
	}
	s.known = min(s.known, standingOf(asked, false))
	if isOver, err := onchain.DecodeCallStatus(now); err != nil || !isOver {
		return err
	}
	isFound := func() bool { return s.callOver }
	if !s.chain.isTron {
		block, err := s.firstBlock(ctx, uint64(s.logs[len(s.logs)-1].BlockNumber), s.call, onchain.DecodeCallStatus)
		if err == nil {
			err = s.readBlock(ctx, block, "the end of the external call", isFound)
		}
		if !isPruned(err) {
			return err
		}
	}
	if err := s.scanOn(ctx, isFound); err != nil || s.callOver || s.gap != nil {
		return err
	}
	return fmt.Errorf("chain %d: the external call of order %s is over, but its event was not found", s.chain.chain.ID, s.id)
}

// endCallByLists finds the end of an external call in lists only: since one may lack it, two endpoints, if there are
// two, list the blocks after the delivery.
func (s *search) endCallByLists(ctx context.Context) error {
	isFound := func() bool { return s.callOver }
	if err := s.scanOn(ctx, isFound); err != nil || s.callOver {
		return err
	}
	others := s.chain.beside(s.listedBy, 0)
	if others.AvoidsAll() {
		return nil
	}
	s.rpc, s.from, s.to = others, uint64(s.logs[len(s.logs)-1].BlockNumber), 0
	if err := s.scanOn(ctx, isFound); err != nil {
		s.known = order.Single
	}
	return ctx.Err()
}
