package sandbox

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// OtherTransaction is a transaction that created no order, to look up nevertheless.
type OtherTransaction struct {
	Chain chain.ID
	Hash  chain.TxHash
	Title string
}

// OtherTransactions returns the history's transactions that created no order.
func (w *World) OtherTransactions() []OtherTransaction { return w.others }

// writeOthers schedules transactions that look as if they could have created an order.
func (h *history) writeOthers() {
	for _, other := range []struct {
		minute float64
		chain  chain.ID
		title  string
		send   func(h *history, ctx context.Context, at time.Time) (hash []byte, err error)
	}{
		{7, polygon, "a token transfer", (*history).transferToken},
		{8, mainnet, "a creation that reverted: one wei short of the fixed fee", (*history).createUnderpaid},
		{20.3, chain.Solana, "a creation that failed behind its events", (*history).createDoomed},
		{20.6, chain.Solana, "a token transfer", (*history).transferOnSolana},
	} {
		h.at(other.minute, func(ctx context.Context, at time.Time) error {
			hash, err := other.send(h, ctx, at)
			h.world.others = append(h.world.others, OtherTransaction{other.chain, chain.NewTxHash(hash), other.title})
			return err
		})
	}
}

func (h *history) transferToken(ctx context.Context, at time.Time) ([]byte, error) {
	makers, c := h.world.cast.makers, h.chain(polygon)
	data := contracts.Token.Pack("transfer", makers[1].Address, units("25", 6))
	receipts, err := c.execute(ctx, at, call{makers[0], c.token(usdc).Address, nil, data})
	if err != nil {
		return nil, err
	}
	return receipts[0].TxHash.Bytes(), nil
}

func (h *history) createUnderpaid(ctx context.Context, at time.Time) ([]byte, error) {
	c := h.chain(mainnet)
	p, _ := h.proposal(8, h.world.cast.makers[2], strings.Fields("10 USDC on Ethereum for 9.9 USDC on Base"))
	creation := p.creation(c)
	creation.value.Sub(creation.value, common.Big1)
	receipts, err := c.execute(ctx, at, creation)
	if len(receipts) == 0 {
		return nil, err
	}
	if err == nil {
		return nil, errors.New("an order was created for less than its fixed fee")
	}
	return receipts[0].TxHash.Bytes(), nil
}

func (h *history) createDoomed(_ context.Context, at time.Time) ([]byte, error) {
	s := h.world.solana
	p, _ := h.proposal(20.3, h.world.cast.makers[4], strings.Fields("15 USDC on Solana for 14.8 USDC on Base"))
	created, err := s.ledger.Create(at, solana.Way{Doomed: true}, s.creation(p))
	if err != nil {
		return nil, err
	}
	if status := s.ledger.Given(created[0].Terms.ID()); status != solana.Absent {
		return nil, errors.New("a failed transaction created an order")
	}
	return created[0].Creation[:], nil
}

func (h *history) transferOnSolana(_ context.Context, at time.Time) ([]byte, error) {
	s, makers := h.world.solana, h.world.cast.makers
	sent, err := s.ledger.Pay(at, makers[1].Wallet, makers[2].Wallet.Key, givenOn(s.token(usdc)), 25_000_000)
	return sent[:], err
}

// chain returns a chain of the world and panics if there is none.
func (h *history) chain(id chain.ID) *Chain {
	c, err := h.world.known(id)
	if err != nil {
		panic(err)
	}
	return c
}
