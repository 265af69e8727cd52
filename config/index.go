package config

import (
	"strings"
	"time"
)

// Index is where orders are kept and how far back they are read.
type Index struct {
	Path     string        `yaml:"path"`     // of the SQLite file
	Postgres Secret        `yaml:"postgres"` // postgres://user:password@host/database, instead of the file
	Lookback uint64        `yaml:"lookback"` // blocks before the head at which a first start begins; zero: the first block
	Behind   time.Duration `yaml:"behind"`   // a chain that was read up to its head longer ago is named in answers
}

const defaultIndexPath = "crossgate.db"

func defaultIndex() Index {
	return Index{Path: defaultIndexPath, Lookback: 50_000, Behind: time.Minute}
}

func (i Index) check(at place) {
	address := i.Postgres.Reveal()
	switch {
	case address == "" && i.Path == "":
		at.key("path").mistake("want the path of the database file")
	case address == "":
	case i.Path != defaultIndexPath:
		at.key("path").mistake("want either a path or postgres: orders are kept in one place")
	case !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://"):
		at.key("postgres").mistake("want an address that begins with postgres://")
	}
	if i.Behind < time.Second {
		at.key("behind").mistake("want 1s at least")
	}
}
