package config

import (
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// Events are those of orders: what clients follow, and are sent.
type Events struct {
	// Keep is how long events are kept for those who were away; older ones are deleted, and a reader who would go on
	// before them has to begin anew
	Keep     time.Duration  `yaml:"keep" range:"48h..; retries of webhooks take a day"`
	Webhooks []Webhook      `yaml:"webhooks"` // besides those that operators add
	Networks []netip.Prefix `yaml:"networks"` // private ones that webhooks may be in, also by http; default: none
	// Redis is the URL of a Valkey or Redis whose stream crossgate:events has the same events, as cache.shared spells it
	Redis Secret `yaml:"redis"`
}

// Webhook is a subscriber to events.
type Webhook struct {
	Name    string   `yaml:"name"`    // how metrics and commands name it: letters, digits and dashes
	URL     Secret   `yaml:"url"`     // https, of a public host; it may hold a key
	Secrets []Secret `yaml:"secrets"` // whsec_…, one or, while they change, two: each signs
	Filter  string   `yaml:"filter"`  // as the query of /v1.0/events; empty: all events
}

func defaultEvents() Events { return Events{Keep: 7 * 24 * time.Hour} }

func (e Events) check(at place) {
	var names []string
	for i, each := range e.Webhooks {
		here := at.key("webhooks").item(i)
		here.key("name").mistakeIf(!isToken(each.Name) || slices.Contains(names, each.Name), "want a unique name of letters, digits and dashes")
		names = append(names, each.Name)
		_, err := url.Parse(each.URL.Reveal())
		here.key("url").mistakeIf(err != nil || each.URL.Reveal() == "", "want a URL")
		here.key("secrets").mistakeIf(len(each.Secrets) < 1 || len(each.Secrets) > 2, "want one secret, or two while they change")
	}
}
