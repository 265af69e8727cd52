package config

import "time"

// Events are those of orders: what clients follow, and are sent.
type Events struct {
	// Keep is how long events are kept for those who were away; older ones are deleted, and a reader who would go on
	// before them is told to begin anew. 0: there is no feed
	Keep time.Duration `yaml:"keep" range:"0s.."`
}

func defaultEvents() Events { return Events{Keep: 7 * 24 * time.Hour} }

func (e Events) check(at place) {
	at.key("keep").mistakeIf(e.Keep > 0 && e.Keep < 24*time.Hour, "want a day at least, as retries of webhooks take one, or 0")
}
