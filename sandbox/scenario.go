package sandbox

import "crossgate/sandbox/contracts"

// The chains by name, as the history tells of them.
const (
	mainnet = 1
	polygon = 137
	base    = 8453
	sonic   = 100000014
)

// Minutes at which the contracts of the older chains move to today's events. Genesis starts them on
// the events of before.
const (
	sourceUpgrade      = 16
	destinationUpgrade = 34
)

// startsLegacy reports whether a chain begins with the older generation of events.
func startsLegacy(c *Chain) bool { return c.Facts.ID == mainnet || c.Facts.ID == polygon }

func (h *history) writeUpgrades() {
	for _, c := range h.world.chains {
		if startsLegacy(c) {
			h.switchEvents(sourceUpgrade, c.Facts.ID, contracts.DlnSource, (*Chain).dlnSource)
			h.switchEvents(destinationUpgrade, c.Facts.ID, contracts.DlnDestination, (*Chain).dlnDestination)
		}
	}
}

// writeLives tells every stage of the way from creation to the taker's payment.
func (h *history) writeLives() {
	h.open(2, "announced by the event without metadata", 0, lot{mainnet, usdc, "1500"}, lot{base, usdc, "1498.1"}, referral(31337))

	old := h.open(4, "created and fulfilled in the old events, claimed", 1, lot{polygon, usdc, "820.5"}, lot{mainnet, dai, "818.9"})
	h.fulfil(5.5, old, 0)
	h.sendUnlock(24, 0, old)
	h.claim(31, old)

	oldFill := h.open(9, "fulfilled in the old event, unlock sent", 2, lot{base, usdc, "402"}, lot{polygon, usdc, "400.75"}, onlyTaker(1))
	h.fulfil(10, oldFill, 1)
	h.sendUnlock(52, 1, oldFill)

	h.open(112, "waiting for a taker", 0, lot{mainnet, usdc, "2500"}, lot{polygon, dai, "2496.4"}, referral(31805))
	h.open(113, "waiting for one taker only", 1, lot{mainnet, "", "1.25"}, lot{base, usdc, "3741.6"}, onlyTaker(0), referral(4242))
	h.open(114, "waiting, created by the maker's counter", 2, lot{polygon, dai, "640"}, lot{mainnet, usdc, "638.2"}, counted())
	h.open(110, "waiting, with an affiliate", 3, lot{base, dai, "995.5"}, lot{sonic, usdc, "990"}, affiliated("4.9775"), referral(77))

	fulfilled := h.open(98, "fulfilled", 3, lot{polygon, usdc, "3100"}, lot{base, dai, "3094.2"})
	h.fulfil(98.7, fulfilled, 0)

	single := h.open(76, "unlock sent alone", 4, lot{base, dai, "150.25"}, lot{mainnet, usdc, "148.9"}, referral(9))
	h.fulfil(77, single, 1)
	h.sendUnlock(89, 1, single)

	claimed := h.open(41, "claimed, with an affiliate paid", 0, lot{mainnet, usdc, "5000"}, lot{base, usdc, "4969.4"}, affiliated("25"), referral(31805))
	h.fulfil(41.6, claimed, 2)
	h.sendUnlock(47, 2, claimed)
	h.claim(56, claimed)

	h.writeBatches()
}

// writeBatches tells of several orders in one message and several messages in one transaction.
func (h *history) writeBatches() {
	var sent, claimed []*Order
	for i, amount := range []string{"210", "1333.37", "75.000001"} {
		o := h.open(60+float64(i), "unlock sent in a batch of three", i, lot{mainnet, usdc, amount}, lot{base, usdc, amount}, lowerTake("0.995"))
		h.fulfil(63+float64(i)/2, o, 0)
		sent = append(sent, o)

		o = h.open(20+2*float64(i), "claimed in a batch of three", 3+i, lot{sonic, usdc, amount}, lot{mainnet, dai, amount}, lowerTake("0.99"))
		h.fulfil(28+float64(i)/2, o, 1)
		claimed = append(claimed, o)
	}
	h.sendUnlock(93, 0, sent...)
	h.sendUnlock(38, 1, claimed...)
	h.claim(49, claimed[0])

	fromPolygon := h.open(43, "claimed together with another message", 4, lot{base, "", "0.8"}, lot{polygon, usdc, "2388"})
	fromSonic := h.open(44, "claimed together with another message", 5, lot{base, wbtc, "0.015"}, lot{sonic, usdc, "1344.5"}, affiliated("0.00003"))
	h.fulfil(45, fromPolygon, 2)
	h.fulfil(46, fromSonic, 2)
	h.sendUnlock(53, 2, fromPolygon)
	h.sendUnlock(54, 2, fromSonic)
	h.claim(66, fromPolygon, fromSonic)
}

// writeCancels tells of the way back to the maker.
func (h *history) writeCancels() {
	makers := h.world.cast.makers

	sent := h.open(83, "cancel sent", 2, lot{base, usdc, "777"}, lot{mainnet, "", "0.2571"})
	h.cancel(101, sent, 2, makers[2])

	restricted := h.open(85, "cancel sent, refund to one address only", 5, lot{sonic, dai, "60"}, lot{polygon, usdc, "59.4"}, refundOnlyTo(0))
	h.cancel(104, restricted, 5, makers[0])

	refunded := h.open(33, "cancelled and refunded in coin, fees included", 1, lot{polygon, "", "900"}, lot{base, usdc, "447.2"}, affiliated("4.5"))
	h.cancel(58, refunded, 1, makers[1])
	h.claim(71, refunded)

	elsewhere := h.open(36, "cancelled and refunded to another address", 3, lot{mainnet, dai, "1200"}, lot{sonic, "", "2380"}, refundOnlyTo(4))
	h.cancel(61, elsewhere, 3, makers[4])
	h.claim(72, elsewhere)
}
