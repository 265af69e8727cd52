package config

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
