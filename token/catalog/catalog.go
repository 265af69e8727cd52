package catalog

import (
	"sync"

	"crossgate/chain"
	"crossgate/token"
)

// Catalog holds the checked tokens of public lists. It is safe for concurrent use.
type Catalog struct {
	mu    sync.RWMutex
	names []string // of the lists, in order of precedence
	lists map[string]map[chain.ID]map[chain.Address]token.Token
}

// SetNames sets the lists that count, in order of precedence; others are forgotten.
func (c *Catalog) SetNames(names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := make(map[string]map[chain.ID]map[chain.Address]token.Token, len(names))
	for _, name := range names {
		kept[name] = c.lists[name]
	}
	c.names, c.lists = names, kept
}

// Replace sets the tokens of a list, if the list counts.
func (c *Catalog) Replace(name string, tokens map[token.Key]token.Token) {
	byChain := make(map[chain.ID]map[chain.Address]token.Token)
	for key, t := range tokens {
		if byChain[key.Chain] == nil {
			byChain[key.Chain] = make(map[chain.Address]token.Token)
		}
		byChain[key.Chain][key.Address] = t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, counts := c.lists[name]; counts {
		c.lists[name] = byChain
	}
}

// Tokens returns the lists' tokens of a chain. The caller may change the map.
func (c *Catalog) Tokens(id chain.ID) map[chain.Address]token.Token {
	c.mu.RLock()
	defer c.mu.RUnlock()
	tokens := make(map[chain.Address]token.Token)
	for _, name := range c.names {
		for address, t := range c.lists[name][id] {
			if _, known := tokens[address]; !known {
				tokens[address] = t
			}
		}
	}
	return tokens
}
