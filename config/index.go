package config

import (
	"strings"
	"time"
)

// Index sets where orders are stored and how far back they are read.
type Index struct {
	Path     string        `yaml:"path"`     // of the SQLite database file
	Postgres Secret        `yaml:"postgres"` // postgres://user:password@host/database, instead of a file
	Lookback uint64        `yaml:"lookback"` // how many blocks before the head a first start begins; 0: at the first block
	Behind   time.Duration `yaml:"behind"`   // answers name a chain whose lag is larger (X-Index-Behind)
	Wait     time.Duration `yaml:"wait"`     // how long serve waits for a PostgreSQL that does not answer yet; 0: not at all
	// PostgreSQL connections that one gateway reads by at most; 5 more are for writing, notifications and pings.
	Connections int `yaml:"connections"`
}

const defaultIndexPath = "crossgate.db"

func defaultIndex() Index {
	return Index{Path: defaultIndexPath, Lookback: 50_000, Behind: time.Minute, Wait: time.Minute, Connections: 8}
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
	at.key("connections").mistakeIf(i.Connections < 1, "want at least 1")
	at.key("wait").mistakeIf(i.Wait < 0, "want at least 0s")
	at.key("behind").mistakeIf(i.Behind < time.Second, "want at least 1s")
}
