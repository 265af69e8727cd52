package config

// Venue is a place where swaps are priced: a service with endpoints, or contracts on the chains, which have none.
// Which names exist, and which settings each knows, is the venues' own knowledge, so it is checked when they
// are built.
type Venue struct {
	Name      string            `yaml:"name"`
	Endpoints []Endpoint        `yaml:"endpoints"`
	Key       Secret            `yaml:"key"` // the venue's API key; most need none
	Settings  map[string]string `yaml:"settings"`
}

func checkVenues(venues []Venue, at place) {
	first := make(map[string]int)
	for i, venue := range venues {
		if venue.Name == "" {
			at.item(i).key("name").mistake("want the name of a venue")
		} else if earlier, taken := first[venue.Name]; taken {
			at.item(i).key("name").mistake("is listed already as venues[%d]", earlier)
		} else {
			first[venue.Name] = i
		}
		if len(venue.Endpoints) > 0 {
			checkEndpoints(venue.Endpoints, at.item(i).key("endpoints"))
		}
	}
}
