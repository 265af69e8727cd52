package config

import (
	"strings"
	"time"
)

// Index sets where orders are stored and how far back they are read.
type Index struct {
	Path     string        `yaml:"path"`                // of the SQLite database file
	Postgres Secret        `yaml:"postgres"`            // postgres://user:password@host/database, instead of a file
	Lookback uint64        `yaml:"lookback"`            // how many blocks before the head a first start begins; 0: at the first block
	Swaps    bool          `yaml:"swaps"`               // whether swaps within a chain are indexed too: on a busy chain thousands a day
	Behind   time.Duration `yaml:"behind" range:"1s.."` // answers name a chain whose lag is larger (Index-Basis)
	Follow   Follow        `yaml:"follow"`              // how often chains are asked for news
	Wait     time.Duration `yaml:"wait" range:"0s.."`   // how long serve waits for a PostgreSQL that does not answer yet; 0: not at all
	// PostgreSQL connections that one gateway reads by at most; 5 more are for writing, notifications and probes.
	Connections int `yaml:"connections" range:"1.."`
}

// Follow sets how long a gateway waits between two looks at a chain, by what is asked about it.
type Follow struct {
	Asked   time.Duration `yaml:"asked" range:"100ms.."` // while somebody asks about its orders, and for five minutes after
	Listed  time.Duration `yaml:"listed"`                // while somebody asks what is locked for a taker
	Idle    time.Duration `yaml:"idle"`                  // while nobody asks
	Retired time.Duration `yaml:"retired"`               // while nobody asks about orders of a chain that takes no new ones
}

func defaultFollow() Follow {
	return Follow{Asked: 1900 * time.Millisecond, Listed: 15 * time.Second, Idle: time.Minute, Retired: 4 * time.Minute}
}

func (f Follow) check(at place) {
	at.key("listed").mistakeIf(f.Listed < f.Asked, "want at least asked")
	at.key("idle").mistakeIf(f.Idle < f.Listed, "want at least listed")
	at.key("retired").mistakeIf(f.Retired < f.Idle, "want at least idle")
}

const defaultIndexPath = "crossgate.db"

func defaultIndex() Index {
	return Index{Path: defaultIndexPath, Lookback: 50_000, Swaps: true, Behind: time.Minute, Follow: defaultFollow(), Wait: time.Minute, Connections: 8}
}

func (i Index) check(at place) {
	address := i.Postgres.Reveal()
	switch {
	case address == "" && i.Path == "":
		at.key("path").mistake("want the path of the database file")
	case address == "":
	case i.Path != defaultIndexPath:
		at.key("path").mistake("want either path or postgres, not both")
	case !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://"):
		at.key("postgres").mistake("want a URL that begins with postgres://")
	}
	i.Follow.check(at.key("follow"))
}
