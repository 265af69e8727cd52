package evm

import (
	"context"
	"fmt"

	"crossgate/order"
	"crossgate/order/onchain"
)

// seeCall learns from a log how far the order's external call has come.
func (s *search) seeCall(l log, fact order.Fact) {
	call, is := fact.(order.ExternalCall)
	switch {
	case !is:
	case call.Step == order.CallRegistered:
		s.call = contractCall{l.Address, onchain.CallStatusCall(l.Data)}
	default:
		s.callOver = true
	}
}

// endCall finds the end of a registered external call, after the searched blocks. Calls may be carried out much
// later, so the adapter is asked whether it has happened at all.
func (s *search) endCall(ctx context.Context) error {
	if s.call.to.IsAbsent() || s.callOver || s.to >= uint64(s.latest.Number) {
		return nil
	}
	var block any = s.latest.Number
	if s.chain.recent {
		block = "latest"
	}
	var now Payload
	err := s.chain.rpc.All(ctx, s.call.on(&now, block))
	if refusedByContract(err) { // an adapter without that function
		return s.scanOn(ctx, func() bool { return s.callOver })
	}
	if err != nil {
		return err
	}
	if isOver, err := s.isCallOver(now); err != nil || !isOver {
		return err
	}
	if err := s.searchCall(ctx); err != nil {
		return err
	}
	if !s.callOver && s.gap == nil {
		return fmt.Errorf("chain %d: the external call of order %s is over, but its event was not found", s.chain.chain.ID, s.id)
	}
	return nil
}

func (s *search) isCallOver(answer Payload) (bool, error) {
	isOver, err := onchain.DecodeCallStatus(answer)
	if err != nil {
		return false, fmt.Errorf("chain %d: order %s: %w", s.chain.chain.ID, s.id, err)
	}
	return isOver, nil
}

// searchCall reads the logs of the block in which the call ended or, where past blocks cannot be asked, all
// logs since those that were searched.
func (s *search) searchCall(ctx context.Context) error {
	latest := uint64(s.latest.Number)
	if s.chain.recent {
		for from := s.to + 1; from <= latest && !s.callOver; from += windowBlocks {
			if err := s.collect(ctx, from, min(from+windowBlocks-1, latest)); err != nil {
				return err
			}
		}
		return nil
	}
	s.bisected = true
	block, err := s.firstBlock(ctx, uint64(s.logs[len(s.logs)-1].BlockNumber), s.call, s.isCallOver)
	if isPruned(err) {
		return s.scanOn(ctx, func() bool { return s.callOver })
	}
	if err != nil {
		return fmt.Errorf("block in which the external call of order %s ended: %w", s.id, err)
	}
	return s.collect(ctx, block, block)
}
