package config

import (
	"strings"
	"time"
)

// Index sets where orders are stored and how far back they are read.
type Index struct {
	Path     string `yaml:"path"`     // of the SQLite database file
	Postgres Secret `yaml:"postgres"` // postgres://user:password@host/database, instead of a file
	Lookback uint64 `yaml:"lookback"` // first start: how many blocks before the head to begin; 0: at the first block
	// Behind is the lag from which answers mark a chain as behind (Index-Basis).
	Behind time.Duration `yaml:"behind" range:"1s.."`
	// Connections limits a gateway's PostgreSQL connections for reading; 5 more are for writing, notifications, probes.
	Connections int `yaml:"connections" range:"1.."`

	Asked time.Duration // poll interval of a chain whose orders clients request; not a key
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

// Events configures the delivery of order events.
type Events struct {
	Webhooks []Webhook `yaml:"webhooks"` // besides those that operators add
	// Redis is the URL, as in cache.shared, of a Valkey, or Redis since 6.2, that gets the events in the stream
	// crossgate:events
	Redis Secret `yaml:"redis"`
}

// Webhook is a subscriber to events.
type Webhook struct {
	Name    string   `yaml:"name"`    // in metrics and commands: letters, digits and dashes
	URL     Secret   `yaml:"url"`     // http or https, private networks allowed; may hold a key
	Secrets []Secret `yaml:"secrets"` // whsec_…, one or, during rotation, two: each signs
	Filter  string   `yaml:"filter"`  // a query of /v1.0/events; empty: all events
}

func (e Events) check(at place) {
	names := map[string]bool{}
	for i, each := range e.Webhooks {
		here := at.key("webhooks").item(i)
		here.key("name").mistakeIf(!isToken(each.Name) || names[each.Name], "want a unique name of letters, digits and dashes")
		names[each.Name] = true
		here.key("url").mistakeIf(!isWebAddress(each.URL.Reveal()), "want a URL of http or https")
		here.key("secrets").mistakeIf(len(each.Secrets) < 1 || len(each.Secrets) > 2, "want one secret, or two while they change")
	}
}
