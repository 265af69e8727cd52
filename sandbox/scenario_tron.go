package sandbox

import "crossgate/chain"

// writeTron writes the history of orders from and to TRON, at every stage of the way and back.
func (h *history) writeTron() {
	h.writeToTron()
	h.writeFromTron()
}

func (h *history) writeToTron() {
	makers := h.world.cast.makers

	h.open(106, "to TRON, waiting", 4, lot{mainnet, usdc, "1000"}, lot{chain.Tron, usdt, "996.2"}, receivedBy(5), referral(31805))
	h.open(107, "to TRON, waiting for one taker only", 0, lot{base, "", "0.3"}, lot{chain.Tron, "", "2988"}, onlyTaker(2))

	fulfilled := h.open(94, "to TRON, fulfilled", 1, lot{polygon, usdc, "640"}, lot{chain.Tron, usdt, "637.1"})
	h.fulfil(95, fulfilled, 0)

	var sent []*Order
	for i, amount := range []string{"120", "7777.77"} {
		o := h.open(51+float64(i), "to TRON, unlock sent in a batch of two", i, lot{mainnet, usdc, amount}, lot{chain.Tron, usdt, amount}, lowerTake("0.99"))
		h.fulfil(54+float64(i)/2, o, 1)
		sent = append(sent, o)
	}
	h.sendUnlock(81, 1, sent...)

	claimed := h.open(27, "to TRON, claimed", 2, lot{sonic, dai, "333"}, lot{chain.Tron, "", "1098.5"}, affiliated("1.5"))
	h.fulfil(28, claimed, 2)
	h.sendUnlock(37, 2, claimed)
	h.claim(46, claimed)

	cancelled := h.open(77, "to TRON, cancel sent", 3, lot{base, usdc, "58"}, lot{chain.Tron, usdc, "57.7"})
	h.cancel(96, cancelled, 3, makers[3])

	refunded := h.open(29, "to TRON, cancelled and refunded", 4, lot{mainnet, "", "0.2"}, lot{chain.Tron, usdt, "597"}, refundOnlyTo(4))
	h.cancel(55, refunded, 4, makers[4])
	h.claim(67, refunded)
}

func (h *history) writeFromTron() {
	makers := h.world.cast.makers

	h.open(108, "from TRON, waiting", 0, lot{chain.Tron, usdt, "2500"}, lot{mainnet, usdc, "2488.5"}, referral(31805), affiliated("6.25"))
	h.open(109, "from TRON, waiting, created by the maker's counter", 1, lot{chain.Tron, "", "1500"}, lot{base, usdc, "447"}, counted())

	fulfilled := h.open(97, "from TRON, fulfilled", 2, lot{chain.Tron, usdc, "75.5"}, lot{polygon, usdc, "75"})
	h.fulfil(98, fulfilled, 0)

	sent := h.open(70, "from TRON, unlock sent", 3, lot{chain.Tron, "", "640.25"}, lot{base, dai, "190.8"})
	h.fulfil(71, sent, 0)
	h.sendUnlock(83, 0, sent)

	claimed := h.open(30, "from TRON, claimed, with an affiliate paid", 5, lot{chain.Tron, usdt, "9100"}, lot{mainnet, "", "3.01"}, affiliated("45.5"), referral(7))
	h.fulfil(32, claimed, 1)
	h.sendUnlock(42, 1, claimed)
	h.claim(53, claimed)

	together := h.openTogether(86, "two orders from TRON in one transaction",
		h.proposal(86, 2, lot{chain.Tron, usdt, "300"}, lot{base, usdc, "298.8"}, nil),
		h.proposal(86, 2, lot{chain.Tron, usdt, "310"}, lot{sonic, usdc, "308.6"}, nil),
	)
	h.fulfil(87, together[0], 2)
	h.fulfil(88, together[1], 2)

	cancelled := h.open(79, "from TRON, cancel sent", 4, lot{chain.Tron, usdt, "44"}, lot{sonic, usdc, "43.7"})
	h.cancel(99, cancelled, 4, makers[4])

	refunded := h.open(34, "from TRON, cancelled and refunded in coin, fees included", 5, lot{chain.Tron, "", "2000"}, lot{polygon, dai, "596"})
	h.cancel(59, refunded, 5, makers[5])
	h.claim(73, refunded)
}
