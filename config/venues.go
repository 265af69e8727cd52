package config

// Venue is where swaps are made: a service with endpoints, or contracts on the chains, which have none. Names and
// settings are checked when the venues are built; docs/venues.md lists them.
type Venue struct {
	Name      string            `yaml:"name"`      // as docs/venues.md has it
	Endpoints []Endpoint        `yaml:"endpoints"` // that serve its API; none for an exchange, which is read through its chain
	Key       Secret            `yaml:"key"`       // API key, where the venue requires one
	Settings  map[string]string `yaml:"settings"`  // the venue's own, by their names in docs/venues.md
}

func checkVenues(venues []Venue, at place) {
	first := make(map[string]int)
	for i, venue := range venues {
		if venue.Name == "" {
			at.item(i).key("name").mistake("want the name of a venue; docs/venues.md lists them")
		} else if earlier, taken := first[venue.Name]; taken {
			at.item(i).key("name").mistake("duplicate of venues[%d]", earlier)
		} else {
			first[venue.Name] = i
		}
		if len(venue.Endpoints) > 0 {
			checkEndpoints(venue.Endpoints, at.item(i).key("endpoints"))
			refuseWebSockets(venue.Endpoints, at.item(i).key("endpoints"))
		}
	}
}
