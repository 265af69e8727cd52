package sandbox

import (
	"context"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// writeCalls tells of orders that call a contract on the take chain.
func (h *history) writeCalls() {
	w := h.world
	h.open(107, "external call, waiting for a taker", 0, lot{polygon, usdc, "90"}, lot{base, usdc, "89"}, deposits())

	registered := h.open(73, "external call registered, awaiting execution", 1, lot{mainnet, usdc, "330"}, lot{base, usdc, "328"}, deposits())
	h.fulfil(74, registered, 1)

	later := h.open(63, "external call registered, executed later", 2, lot{base, usdc, "410"}, lot{mainnet, usdc, "407"}, deposits())
	h.fulfil(64, later, 2)
	h.at(69, func(ctx context.Context, at time.Time) error { return w.executeCall(ctx, at, *later, w.cast.keeper) })

	once := h.open(57, "external call executed at once, claimed", 3, lot{polygon, dai, "512"}, lot{base, dai, "508"}, deposits())
	h.fulfil(58, once, 0, runningTheCall)
	h.sendUnlock(65, 0, once)
	h.claim(75, once)

	failed := h.open(67, "external call failed, tokens to the fallback address", 4, lot{sonic, usdc, "55"}, lot{base, usdc, "54"}, refuses())
	h.fulfil(68, failed, 1, runningTheCall)

	unspelled := h.open(70, "external call registered under the old spelling", 5, lot{base, usdc, "66"}, lot{polygon, usdc, "65"}, deposits())
	h.fulfil(71.5, unspelled, 2)

	withdrawn := h.open(72, "external call cancelled after registration", 0, lot{sonic, dai, "81"}, lot{mainnet, usdc, "80"}, deposits())
	h.fulfil(73, withdrawn, 2)
	h.at(90, func(ctx context.Context, at time.Time) error {
		return w.cancelCall(ctx, at, *withdrawn, w.cast.makers[0], w.cast.makers[0].Address)
	})

	cancelled := h.open(75, "order with an external call, cancelled", 1, lot{base, "", "0.05"}, lot{mainnet, usdc, "149"}, deposits())
	h.cancel(92, cancelled, 1, w.cast.makers[1])
}

func runningTheCall(f *fulfilment) { f.runsCall = true }

// deposits has half of what is taken deposited for the maker; the rest falls back to it.
func deposits() term {
	return func(h *history, p *proposal) {
		half := new(big.Int).Div(p.takeAmount, big.NewInt(2))
		data := depositCall(common.BytesToAddress(p.takeToken), half, p.maker.Address)
		p.externalCall = externalCall(p.maker.Address, executionFee(p.takeAmount), data)
	}
}

func refuses() term {
	return func(h *history, p *proposal) {
		p.externalCall = externalCall(p.maker.Address, executionFee(p.takeAmount), refusedCall("closed today"))
	}
}

// executionFee is a thousandth of what is taken.
func executionFee(takeAmount *big.Int) *big.Int {
	return new(big.Int).Div(takeAmount, big.NewInt(1000))
}
