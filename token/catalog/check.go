package catalog

import (
	"fmt"

	"crossgate/chain"
	"crossgate/token"
)

// Check returns the tokens of a list on one chain whose contracts confirm it by what they said, or an error if one
// contradicts it. A contract that says nothing confirms nothing.
func (l List) Check(c chain.Chain, said map[token.Key]token.Reading) (confirmed map[token.Key]token.Token, err error) {
	confirmed = make(map[token.Key]token.Token)
	for key, t := range l.Tokens {
		found := said[key].Decimals
		if key.Chain != c.ID || found == nil {
			continue
		}
		if *found != t.Decimals {
			return nil, fmt.Errorf("%s (%s) of chain %d has %d decimals by the list and %d by its contract",
				t.Symbol, key.Address.Format(c.Family), key.Chain, t.Decimals, *found)
		}
		confirmed[key] = t
	}
	return confirmed, nil
}
