package catalog

import (
	"fmt"

	"crossgate/chain"
	"crossgate/token"
)

// DecimalsError means that a token's decimals in a list differ from its contract's.
type DecimalsError struct {
	Key           token.Key
	Symbol        string
	Listed, Found uint8
	Family        chain.Family // for the notation of the address
}

// Error implements error.
func (e *DecimalsError) Error() string {
	return fmt.Sprintf("%s (%s) of chain %d has %d decimals by the list and %d by its contract",
		e.Symbol, e.Key.Address.Format(e.Family), e.Key.Chain, e.Listed, e.Found)
}

// Check returns the tokens of a list on one chain whose contracts confirm it by what they said, or *DecimalsError if
// one contradicts it. A contract that says nothing confirms nothing.
func (l List) Check(c chain.Chain, said map[token.Key]token.Reading) (confirmed map[token.Key]token.Token, err error) {
	confirmed = make(map[token.Key]token.Token)
	for key, t := range l.Tokens {
		found := said[key].Decimals
		if key.Chain != c.ID || found == nil {
			continue
		}
		if *found != t.Decimals {
			return nil, &DecimalsError{Key: key, Symbol: t.Symbol, Listed: t.Decimals, Found: *found, Family: c.Family}
		}
		confirmed[key] = t
	}
	return confirmed, nil
}
