package config

// Prices are the sources of token prices; of several the median counts. Without any, answers have no USD values.
type Prices struct {
	DefiLlama *PriceService `yaml:"defillama"`
	Feeds     bool          `yaml:"feeds"` // also read the price oracles of Aave, on configured chains that have one
}

// PriceService is an HTTP API of token prices.
type PriceService struct {
	Endpoints []Endpoint `yaml:"endpoints"` // that serve its API
}

func (p Prices) check(at place) {
	if p.DefiLlama != nil {
		checkEndpoints(p.DefiLlama.Endpoints, at.key("defillama").key("endpoints"))
		refuseWebSockets(p.DefiLlama.Endpoints, at.key("defillama").key("endpoints"))
	}
}
