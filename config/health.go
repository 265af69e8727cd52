package config

import "time"

// Health says when an endpoint is asked after others, and for how long not at all.
type Health struct {
	// Lag is how long ago the block was newest that an endpoint of a chain may take for the newest; chains may say
	// it in blocks.
	Lag time.Duration `yaml:"lag"`
	// LongestBan is for how long an endpoint is put aside at most that lies again and again: first for a minute, then for
	// five times as long each time.
	LongestBan time.Duration `yaml:"longestBan"`
}

func defaultHealth() Health { return Health{Lag: 15 * time.Second, LongestBan: 30 * time.Minute} }

func (h Health) check(at place) {
	if h.Lag < time.Second {
		at.key("lag").mistake("want 1s at least: heads are compared to a second")
	}
	if h.LongestBan <= 0 {
		at.key("longestBan").mistake("want a duration above zero")
	}
}

// LagOf returns how many blocks an endpoint of a chain with that block time may be behind the others.
func (c Config) LagOf(own Chain, blockTime time.Duration) uint64 {
	const fewest = 2 // what the next answer may bring is no lag
	if own.Lag > 0 {
		return own.Lag
	}
	if blockTime <= 0 {
		return fewest
	}
	return max(uint64(c.Health.Lag/blockTime), fewest)
}
