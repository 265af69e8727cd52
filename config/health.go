package config

import "time"

// Health sets when an endpoint is used only after others, and how long it is quarantined.
type Health struct {
	// Lag is how far the head of an endpoint may be behind those of the chain's other endpoints before these are
	// preferred; a chain may set it in blocks.
	Lag time.Duration `yaml:"lag" range:"1s..; heads are compared by the second"`
	// LongestBan is the longest quarantine of an endpoint that keeps giving bad answers: the first is a minute, each
	// further one five times as long.
	LongestBan time.Duration `yaml:"longestBan" range:">0s"`
}

func defaultHealth() Health { return Health{Lag: 15 * time.Second, LongestBan: 30 * time.Minute} }

// LagOf returns how many blocks an endpoint of a chain with that block time may be behind the others.
func (c Config) LagOf(own Chain, blockTime time.Duration) uint64 {
	const fewest = 2 // heads differ by as much between two responses
	if own.Lag > 0 {
		return own.Lag
	}
	if blockTime <= 0 {
		return fewest
	}
	return max(uint64(c.Health.Lag/blockTime), fewest)
}
