package gateway

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/index"
)

// Keys of two accounts.
const (
	keyOne = "0123456789abcdef0123456789abcdef"
	keyTwo = "fedcba9876543210fedcba9876543210"
)

// at is an endpoint that may be asked so often in a second.
func at(address string, rate float64) config.Endpoint {
	return config.Endpoint{URL: config.NewSecret(address), RequestsPerSecond: rate}
}

// followed is a chain with endpoints.
func followed(id chain.ID, endpoints ...config.Endpoint) config.Chain {
	return config.Chain{ID: id, Endpoints: endpoints}
}

// TestEndpointsWithOneKeySpendOnePlan has chains followed at known providers, looked at once a minute.
func TestEndpointsWithOneKeySpendOnePlan(t *testing.T) {
	t.Parallel()
	withHeader := func(e config.Endpoint, key string) config.Endpoint {
		e.Headers = map[string]config.Secret{"TRON-PRO-API-KEY": config.NewSecret(key)}
		return e
	}
	planned := at("https://polygon-mainnet.infura.io/v3/"+keyOne, 1)
	planned.Monthly = 1000
	for name, test := range map[string]struct {
		chains []config.Chain
		want   []string // provider and chains
	}{
		"one key on two hosts of a provider": {
			[]config.Chain{followed(1, at("https://mainnet.infura.io/v3/"+keyOne, 1)), followed(137, at("https://polygon-mainnet.infura.io/v3/"+keyOne, 1))},
			[]string{"Infura Ethereum Polygon"},
		},
		"two keys": {
			[]config.Chain{followed(1, at("https://mainnet.infura.io/v3/"+keyOne, 1)), followed(137, at("https://polygon-mainnet.infura.io/v3/"+keyTwo, 1))},
			[]string{"Infura Ethereum", "Infura Polygon"},
		},
		"a key in the query": {
			[]config.Chain{followed(1, at("https://lb.drpc.org/ogrpc?network=ethereum&dkey="+keyOne, 1)), followed(137, at("https://lb.drpc.org/ogrpc?network=polygon&dkey="+keyOne, 1))},
			[]string{"dRPC Ethereum Polygon"},
		},
		"a key in a header": {
			[]config.Chain{
				followed(100000026, withHeader(at("https://api.trongrid.io/jsonrpc", 1), keyOne), withHeader(at("https://api.trongrid.io/jsonrpc", 1), keyTwo)),
			},
			[]string{"TronGrid TRON", "TronGrid TRON"},
		},
		"no key": {
			[]config.Chain{followed(1, at("https://eth.drpc.org", 1)), followed(137, at("https://polygon.drpc.org", 1)), followed(1, at("https://lb.drpc.org/ethereum/"+keyOne, 1))},
			[]string{"dRPC Ethereum Polygon", "dRPC Ethereum"},
		},
		"a plan that is configured": {[]config.Chain{followed(137, planned)}, nil},
		"a host that only looks alike": {
			[]config.Chain{followed(1, at("https://infura.io.example/v3/"+keyOne, 1), at("http://localhost:8545", 1))}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := diagnoseAccounts(chain.Documented(), test.chains, func(chain.Chain) time.Duration { return time.Minute })
			var got []string
			for _, each := range told {
				got = append(got, each.Provider+" "+strings.Join(each.Chains, " "))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("accounts %q, want %q", got, test.want)
			}
			if text, err := json.Marshal(told); err != nil || strings.Contains(string(text), keyOne) || strings.Contains(string(text), keyTwo) {
				t.Errorf("%s holds a key, or %v", text, err)
			}
		})
	}
}

// TestAnAccountSpendsWhatItsChainsTake has three chains, each of which the plan would carry alone.
func TestAnAccountSpendsWhatItsChainsTake(t *testing.T) {
	t.Parallel()
	registry := chain.Documented()
	infura := freePlans()[slices.IndexFunc(freePlans(), func(p freePlan) bool { return p.Provider == "Infura" })]
	const every = 4 * time.Minute
	var all float64
	for _, id := range []chain.ID{1, 137, 8453} {
		known, _ := registry.Chain(id)
		units := index.Project(known, every, 2).Units(infura.Costs)
		if all += units; units > float64(infura.Units) {
			t.Fatalf("chain %d takes %.0f units a day, want less than the plan of %d has", id, units, infura.Units)
		}
	}
	host := func(name string) config.Endpoint { return at("https://"+name+".infura.io/v3/"+keyOne, 1) }
	told := diagnoseAccounts(registry, []config.Chain{
		followed(1, host("mainnet"), host("mainnet")), followed(137, host("polygon-mainnet"), at("http://localhost:8545", 0)),
		followed(8453, host("base-mainnet"), at("http://localhost:8545", 0)),
	}, func(chain.Chain) time.Duration { return every })
	if len(told) != 1 || told[0].UnitsPerDay != uint64(all) {
		t.Fatalf("%+v, want one account that takes %.0f units a day", told, all)
	}
	if said := told[0].Verdict[0]; !strings.HasPrefix(said, "the free plan of Infura is exceeded after ") || !strings.HasSuffix(said, " by its 3 chains together") {
		t.Errorf("%q, want that the three chains exceed the plan", said)
	}
}

// TestRatesOfAnAccountAreAddedUp has the rates of endpoints beside what plans give in a second.
func TestRatesOfAnAccountAreAddedUp(t *testing.T) {
	t.Parallel()
	inUnits := at("https://lb.drpc.org/ethereum/"+keyOne, 1500)
	inUnits.Costs = map[string]int{"*": 20}
	for name, test := range map[string]struct {
		endpoints []config.Endpoint
		want      string
	}{
		"requests":          {[]config.Endpoint{at("https://lb.drpc.org/ethereum/"+keyOne, 50)}, "it gives 2000 units a second, of which requestsPerSecond allows 1000"},
		"requests of two":   {[]config.Endpoint{at("https://lb.drpc.org/ethereum/"+keyOne, 50), at("https://lb.drpc.org/eth/"+keyOne, 60)}, "it gives 2000 units a second, and requestsPerSecond allows 2200"},
		"units":             {[]config.Endpoint{inUnits}, "it gives 2000 units a second, of which requestsPerSecond allows 1500"},
		"units beside them": {[]config.Endpoint{inUnits, at("https://lb.drpc.org/eth/"+keyOne, 50)}, "it gives 2000 units a second, and requestsPerSecond allows 2500"},
		"no rate":           {[]config.Endpoint{at("https://lb.drpc.org/ethereum/"+keyOne, 0)}, "it gives 2000 units a second, and an endpoint has no requestsPerSecond"},
		"not known":         {[]config.Endpoint{at("https://eth-mainnet.g.alchemy.com/v2/"+keyOne, 50)}, "how much it gives in a second is not known"},
	} {
		told := diagnoseAccounts(chain.Documented(), []config.Chain{followed(1, test.endpoints...)}, func(chain.Chain) time.Duration { return time.Minute })
		if len(told) != 1 || told[0].Verdict[1] != test.want {
			t.Errorf("%s: %+v, want %q", name, told, test.want)
		}
	}
}

// TestEndpointsOfOneProviderFailTogether has endpoints of a chain.
func TestEndpointsOfOneProviderFailTogether(t *testing.T) {
	t.Parallel()
	said := sharedFates(followed(1, at("https://drpc.org/a", 1), at("https://eth.drpc.org/b", 1), at("https://mainnet.infura.io/v3/c", 1)))
	if !slices.Equal(said, []string{"2 endpoints are of dRPC and fail together"}) {
		t.Errorf("%q, want that those of dRPC fail together", said)
	}
}
