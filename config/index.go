package config

import (
	"strings"
	"time"
)

// Index sets where orders are stored and how far back they are read.
type Index struct {
	Path     string `yaml:"path"`     // of the SQLite database file
	Postgres Secret `yaml:"postgres"` // postgres://user:password@host/database, instead of a file
	Lookback uint64 `yaml:"lookback"` // how many blocks before the head a first start begins; 0: at the first block
	// Behind is the lag from which on answers name a chain (Index-Basis).
	Behind time.Duration `yaml:"behind" range:"1s.."`
	// PostgreSQL connections that one gateway reads by at most; 5 more are for writing, notifications and probes.
	Connections int `yaml:"connections" range:"1.."`

	Asked time.Duration // between two looks at a chain whose orders are asked for; not a key
	Day   time.Duration // within which open orders are compared with the contracts; 0: a day; not a key
}

const defaultIndexPath = "crossgate.db"

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
}
