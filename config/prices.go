package config

// Prices are who tells what tokens are worth: of several the median counts. Without any, answers carry no USD values.
type Prices struct {
	DefiLlama *PriceService `yaml:"defillama"`
	Feeds     bool          `yaml:"feeds"` // also ask the price oracles of Aave, on chains that have one and are read
}

// PriceService is one of them.
type PriceService struct {
	Endpoints []Endpoint `yaml:"endpoints"`
}

func (p Prices) check(at place) {
	if p.DefiLlama != nil {
		checkEndpoints(p.DefiLlama.Endpoints, at.key("defillama").key("endpoints"))
	}
}
