package sandbox

// writeLocked gives each taker money that is still locked on several give chains, in several tokens,
// for several take chains: orders fulfilled, with the unlock sent or not.
func (h *history) writeLocked() {
	for _, s := range []struct {
		minute     float64
		taker      int
		give, take lot
	}{
		{90, 0, lot{sonic, dai, "1750"}, lot{polygon, dai, "1741"}},
		{91, 0, lot{sonic, dai, "250"}, lot{polygon, usdc, "248.5"}},
		{92, 0, lot{base, "", "0.42"}, lot{mainnet, usdc, "1254.3"}},
		{93, 1, lot{polygon, "", "2600"}, lot{sonic, "", "2580"}},
		{94, 1, lot{polygon, "", "400"}, lot{mainnet, dai, "198"}},
		{96, 1, lot{sonic, wbtc, "0.004"}, lot{base, usdc, "357.9"}},
		{97, 2, lot{mainnet, usdc, "9000"}, lot{sonic, usdc, "8960"}},
		{99, 2, lot{mainnet, wbtc, "0.1"}, lot{base, "WETH", "2.98"}},
	} {
		o := h.open(s.minute, "fulfilled, locked for its taker", int(s.minute)%makerCount, s.give, s.take)
		h.fulfil(s.minute+0.8, o, s.taker)
	}

	sent := h.open(84, "unlock sent, locked for its taker", 2, lot{mainnet, usdc, "1111.11"}, lot{polygon, usdc, "1105"})
	h.fulfil(85, sent, 2)
	h.sendUnlock(100, 2, sent)

	generous := h.open(102, "fulfilled with more than asked", 3, lot{polygon, usdc, "45"}, lot{base, usdc, "44.5"})
	h.fulfil(103, generous, 1, func(f *fulfilment) { f.extra = units("0.3", 6) })

	routed := h.open(100, "fulfilled through a contract: sender, initiator and unlock authority differ", 4, lot{base, usdc, "888"}, lot{mainnet, usdc, "884"})
	h.fulfil(101, routed, 0, func(f *fulfilment) {
		f.throughRouter, f.unlockAuthority = true, h.world.cast.takers[2]
	})

	delegated := h.open(104, "fulfilled by one taker for another", 5, lot{sonic, "", "5000"}, lot{base, "", "0.82"}, onlyTaker(0))
	h.fulfil(105, delegated, 1, func(f *fulfilment) { f.unlockAuthority = h.world.cast.takers[0] })
}
