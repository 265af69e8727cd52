package sandbox

import (
	"context"
	"errors"
	"time"

	"crossgate/chain"
	"crossgate/sandbox/solana"
)

// Symbols of tokens on Solana. The wrapped coin has the symbol of the coin; PYUSD is a token of the newer token
// program; BARE has no metadata.
const (
	wsol   = "SOL"
	jitosl = "JitoSOL"
	pyusd  = "PYUSD"
	bare   = "BARE"
)

// writeSolana writes the history of orders to and from Solana, at every stage of the way and back.
func (h *history) writeSolana() {
	h.writeToSolana()
	h.writeCancelsOnSolana()
	h.writeCallsOnSolana()
	h.writeFromSolana()
	h.writeFromSolanaAndBack()
	h.writeOthersOnSolana()
}

func (h *history) writeToSolana() {
	w := h.world
	h.open(105, "to Solana, waiting", 2, lot{base, usdc, "250"}, lot{chain.Solana, usdc, "248.9"}, referral(31805))
	h.open(112.5, "to Solana, waiting for one taker only", 3, lot{base, "", "0.2"}, lot{chain.Solana, "", "3.95"}, onlyTaker(1))

	fulfilled := h.open(94.2, "to Solana, fulfilled", 0, lot{sonic, dai, "640"}, lot{chain.Solana, jitosl, "3.57"})
	h.fulfil(94.9, fulfilled, 0)

	delegated := h.open(95.2, "to Solana, fulfilled by one taker for another", 1, lot{polygon, usdc, "99.5"}, lot{chain.Solana, pyusd, "99.1"})
	h.fulfil(95.8, delegated, 1, func(f *fulfilment) { f.unlockAuthority = w.cast.takers[2] })

	var sent []*Order
	for i, amount := range []string{"500", "61.25", "7400"} {
		o := h.open(64.2+float64(i), "to Solana, unlock sent in a batch of three", i, lot{polygon, usdc, amount}, lot{chain.Solana, usdc, amount}, lowerTake("0.994"))
		h.fulfil(67.2+float64(i)/2, o, 2)
		sent = append(sent, o)
	}
	h.sendUnlock(82.3, 2, sent...)

	single := h.open(74.4, "to Solana, unlock sent alone", 4, lot{base, dai, "33.3"}, lot{chain.Solana, wsol, "0.21"})
	h.fulfil(74.9, single, 1)
	h.sendUnlock(90.4, 1, single)

	claimed := h.open(26.1, "to Solana, claimed, with an affiliate paid", 5, lot{base, usdc, "1250"}, lot{chain.Solana, "", "7.71"}, affiliated("6.25"), referral(4242))
	h.fulfil(26.6, claimed, 0)
	h.sendUnlock(36.2, 0, claimed)
	h.claim(44.3, claimed)

	both := []*Order{
		h.open(33.3, "to Solana, claimed in a batch of two", 2, lot{sonic, usdc, "81"}, lot{chain.Solana, usdc, "80.4"}),
		h.open(33.6, "to Solana, claimed in a batch of two", 3, lot{sonic, "", "900"}, lot{chain.Solana, usdc, "446"}),
	}
	h.fulfil(34.1, both[0], 1)
	h.fulfil(34.4, both[1], 1)
	h.sendUnlock(41.2, 1, both...)
	h.claim(52.2, both[0])

	lowered := h.open(15.1, "to Solana, take amount lowered, then fulfilled", 4, lot{polygon, usdc, "150"}, lot{chain.Solana, usdc, "151"})
	h.at(18.3, func(_ context.Context, at time.Time) error {
		return w.solana.ledger.PatchTake(at, termsOf(*lowered), w.cast.makers[4].Wallet, 1_750_000)
	})
	h.fulfil(21.5, lowered, 0)
}

func (h *history) writeCancelsOnSolana() {
	w := h.world
	alone := h.open(76.2, "to Solana, cancelled, word of it not sent", 0, lot{base, usdc, "31"}, lot{chain.Solana, usdc, "30.8"})
	h.at(97.3, func(_ context.Context, at time.Time) error {
		return w.solana.ledger.Cancel(at, termsOf(*alone), w.cast.makers[0].Wallet)
	})

	sent := h.open(78.2, "to Solana, cancel sent, refund to one address only", 1, lot{polygon, dai, "77"}, lot{chain.Solana, "", "0.48"}, refundOnlyTo(2))
	h.cancel(98.4, sent, 1, w.cast.makers[2])

	refunded := h.open(28.2, "to Solana, cancelled and refunded", 5, lot{base, "", "0.4"}, lot{chain.Solana, jitosl, "6.6"}, affiliated("0.001"))
	h.cancel(47.4, refunded, 5, w.cast.makers[5])
	h.claim(60.2, refunded)
}

// writeCallsOnSolana adds orders with instructions for their receiver.
func (h *history) writeCallsOnSolana() {
	w := h.world
	h.open(106.3, "to Solana with an external call, waiting", 0, lot{base, usdc, "45"}, lot{chain.Solana, usdc, "44.8"}, instructs())

	for _, s := range []struct {
		minute float64
		title  string
		after  func(o *Order, at time.Time) error
	}{
		{79.2, "to Solana, external call awaiting execution", nil},
		{80.2, "to Solana, external call executed", func(o *Order, at time.Time) error {
			return w.solana.ledger.ExecuteCall(at, termsOf(*o), w.cast.keeper.Wallet, true)
		}},
		{80.4, "to Solana, external call executed in part", func(o *Order, at time.Time) error {
			return w.solana.ledger.ExecuteCall(at, termsOf(*o), w.cast.keeper.Wallet, false)
		}},
		{80.6, "to Solana, external call given up", func(o *Order, at time.Time) error {
			return w.solana.ledger.FallBack(at, termsOf(*o), w.cast.makers[3].Wallet)
		}},
		{80.8, "to Solana, external call given up by one who may not cancel", func(o *Order, at time.Time) error {
			return w.solana.ledger.FallBack(at, termsOf(*o), w.cast.keeper.Wallet)
		}},
	} {
		o := h.open(s.minute, s.title, 3, lot{base, usdc, "120"}, lot{chain.Solana, usdc, "119.2"}, instructs())
		h.fulfil(s.minute+1.1, o, 0)
		if s.after != nil {
			h.at(s.minute+2.2, func(_ context.Context, at time.Time) error { return s.after(o, at) })
		}
	}
}

// instructs has the executor run instructions for the receiver.
func instructs() term {
	return func(_ *history, p *proposal) {
		p.externalCall = []byte("instructions for " + p.maker.Wallet.Key.String())
	}
}

func (h *history) writeFromSolana() {
	w := h.world
	h.open(107.2, "from Solana, waiting, with an affiliate", 0, lot{chain.Solana, usdc, "1250"}, lot{mainnet, usdc, "1241.3"}, affiliated("5"), referral(31805), bidding(2000))
	h.open(108.2, "from Solana, waiting, gives coin", 1, lot{chain.Solana, "", "12.5"}, lot{base, usdc, "2010"}, refundOnlyTo(3))
	h.open(109.2, "from Solana, waiting, created by the maker's counter", 2, lot{chain.Solana, wsol, "2.25"}, lot{polygon, "", "720"}, counted())
	h.open(110.2, "from Solana, waiting, created through another program", 3, lot{chain.Solana, usdc, "88"}, lot{sonic, usdc, "87.3"}, forwarded(), onlyTaker(0), referral(7))
	h.open(111.2, "from Solana, waiting, created by a versioned transaction through another program", 4,
		lot{chain.Solana, jitosl, "4.004"}, lot{base, "", "0.26"}, forwarded(), versioned(), affiliated("0.01"), bidding(150_000))
	h.open(111.6, "from Solana, waiting, a token without metadata", 5, lot{chain.Solana, bare, "12345.6789"}, lot{base, dai, "12"}, versioned())
	h.open(112.2, "from Solana, waiting, paid for by another", 0, lot{chain.Solana, pyusd, "20.5"}, lot{mainnet, dai, "20.1"}, paidByKeeper())

	increased := h.open(13.2, "from Solana, give amount raised", 1, lot{chain.Solana, usdc, "300"}, lot{base, usdc, "302"})
	h.at(16.4, func(_ context.Context, at time.Time) error {
		return w.solana.ledger.PatchGive(at, increased.ID, w.cast.makers[1].Wallet, 4_500_000)
	})

	h.openTogether(113.3, "two orders from Solana in one transaction",
		h.proposal(113.3, 2, lot{chain.Solana, usdc, "10"}, lot{base, usdc, "9.9"}, []term{versioned()}),
		h.proposal(113.3, 2, lot{chain.Solana, usdc, "11"}, lot{mainnet, usdc, "10.1"}, []term{versioned(), referral(5)}),
	)
	h.open(119.95, "from Solana, waiting, not final yet", 3, lot{chain.Solana, usdc, "63"}, lot{polygon, usdc, "62.6"})
}

func (h *history) writeFromSolanaAndBack() {
	w := h.world
	courier := w.cast.courier

	fulfilled := h.open(95.3, "from Solana, fulfilled", 4, lot{chain.Solana, pyusd, "710"}, lot{polygon, dai, "706.4"})
	h.fulfilBy(96.1, fulfilled, courier)

	single := h.open(68.3, "from Solana, unlock sent alone", 5, lot{chain.Solana, "", "1.75"}, lot{base, dai, "278"})
	h.fulfilBy(69.2, single, courier)
	h.sendUnlockBy(84.3, courier, single)

	claimed := h.open(22.4, "from Solana, claimed, with an affiliate", 0, lot{chain.Solana, usdc, "4100"}, lot{base, "", "1.35"}, affiliated("20.5"), referral(77))
	h.fulfilBy(23.1, claimed, courier)
	h.sendUnlockBy(31.4, courier, claimed)
	h.claim(40.2, claimed)

	coin := h.open(35.3, "from Solana, claimed, gave coin", 1, lot{chain.Solana, "", "30"}, lot{mainnet, usdc, "4830"})
	h.fulfilBy(36.4, coin, courier)
	h.sendUnlockBy(45.4, courier, coin)
	h.claim(57.4, coin)

	var sent, paid []*Order
	for i, amount := range []string{"210", "33.33", "5000"} {
		o := h.open(71.3+float64(i)/2, "from Solana, unlock sent in a batch of three", i, lot{chain.Solana, usdc, amount}, lot{polygon, usdc, amount}, lowerTake("0.99"))
		h.fulfilBy(73.3+float64(i)/2, o, courier)
		sent = append(sent, o)

		o = h.open(29.4+float64(i)/2, "from Solana, claimed in a batch of three", 3+i, lot{chain.Solana, usdc, amount}, lot{sonic, usdc, amount}, lowerTake("0.98"))
		h.fulfilBy(31.6+float64(i)/2, o, courier)
		paid = append(paid, o)
	}
	h.sendUnlockBy(91.4, courier, sent...)
	h.sendUnlockBy(43.4, courier, paid...)
	h.claim(54.4, paid[1])

	cancelled := h.open(77.3, "from Solana, cancel sent", 2, lot{chain.Solana, usdc, "92"}, lot{base, usdc, "91.5"})
	h.cancel(99.4, cancelled, 2, w.cast.makers[2])

	refunded := h.open(37.3, "from Solana, cancelled and refunded, fees included", 3, lot{chain.Solana, usdc, "600"}, lot{mainnet, "", "0.19"}, affiliated("3"))
	h.cancel(61.4, refunded, 3, w.cast.makers[3])
	h.claim(70.4, refunded)
}

func forwarded() term    { return func(_ *history, p *proposal) { p.way.Forwarded = true } }
func versioned() term    { return func(_ *history, p *proposal) { p.way.Versioned = true } }
func paidByKeeper() term { return func(h *history, p *proposal) { p.payer = h.world.cast.keeper } }

// bidding offers a price for each compute unit, in micro-lamports.
func bidding(price uint64) term { return func(_ *history, p *proposal) { p.way.Priority = price } }

// writeOthersOnSolana adds transactions that look as if they had created an order.
func (h *history) writeOthersOnSolana() {
	w := h.world
	h.at(20.3, func(_ context.Context, at time.Time) error {
		p := h.proposal(20.3, 4, lot{chain.Solana, usdc, "15"}, lot{base, usdc, "14.8"}, nil)
		o, err := w.solana.ledger.Create(at, solana.Way{Doomed: true}, w.solana.creation(p))
		if err != nil {
			return err
		}
		if status := w.solana.ledger.Given(o[0].Terms.ID()); status != solana.Absent {
			return errors.New("a failed transaction created an order")
		}
		w.others = append(w.others, OtherTransaction{chain.Solana, chain.NewTxHash(o[0].Creation[:]), "a creation that failed behind its events"})
		return nil
	})
	h.at(20.6, func(_ context.Context, at time.Time) error {
		sent, err := w.solana.ledger.Pay(at, w.cast.makers[1].Wallet, w.cast.makers[2].Wallet.Key, givenOn(w.solana.token(usdc)), 25_000_000)
		if err != nil {
			return err
		}
		w.others = append(w.others, OtherTransaction{chain.Solana, chain.NewTxHash(sent[:]), "a token transfer"})
		return nil
	})
}
