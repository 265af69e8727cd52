package config

// Prices are the services that tell what tokens are worth. Without any, answers carry no USD values.
type Prices struct {
	DefiLlama *PriceService `yaml:"defillama"`
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
