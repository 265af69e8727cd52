package sandbox

import (
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
)

// OtherTransaction is one that created no order, for those who ask about it all the same.
type OtherTransaction struct {
	Chain chain.ID
	Hash  chain.TxHash
	Title string
}

// OtherTransactions returns transactions of the history that created no order.
func (w *World) OtherTransactions() []OtherTransaction { return w.others }

// writeOthers tells of transactions that look as if they could have created an order.
func (h *history) writeOthers() {
	w := h.world
	h.at(7, func(ctx context.Context, at time.Time) error {
		c, err := w.known(polygon)
		if err != nil {
			return err
		}
		data := contracts.Token.Pack("transfer", w.cast.makers[1].Address, units("25", 6))
		receipts, err := c.execute(ctx, at, call{w.cast.makers[0], c.token(usdc).Address, nil, data})
		if err != nil {
			return err
		}
		w.others = append(w.others, OtherTransaction{polygon, chain.NewTxHash(receipts[0].TxHash.Bytes()), "a token transfer"})
		return nil
	})
	h.at(8, func(ctx context.Context, at time.Time) error {
		c, err := w.known(mainnet)
		if err != nil {
			return err
		}
		p := h.proposal(8, 2, lot{mainnet, usdc, "10"}, lot{base, usdc, "9.9"}, nil)
		value, data := p.creation(c)
		short := new(big.Int).Sub(value, common.Big1)
		receipts, err := c.execute(ctx, at, call{p.maker, c.dlnSource(), short, data})
		if len(receipts) == 0 {
			return err
		}
		if err == nil {
			return errors.New("an order was created for less than its fixed fee")
		}
		w.others = append(w.others, OtherTransaction{mainnet, chain.NewTxHash(receipts[0].TxHash.Bytes()), "a creation that reverted: one wei short of the fixed fee"})
		return nil
	})
}
