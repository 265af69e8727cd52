package catalog

import (
	"sync"

	"crossgate/chain"
	"crossgate/token"
)

// Catalog holds the tokens of public lists that were checked. Safe for concurrent use.
type Catalog struct {
	mu    sync.RWMutex
	names []string // of the lists, the first goes before the others
	lists map[string]map[chain.ID]map[chain.Address]token.Token
}

// SetNames says which lists count and in which sequence; others are forgotten.
func (c *Catalog) SetNames(names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := make(map[string]map[chain.ID]map[chain.Address]token.Token, len(names))
	for _, name := range names {
		kept[name] = c.lists[name]
	}
	c.names, c.lists = names, kept
}

// Replace takes over what a list holds now, if the list counts.
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

// Tokens returns what the lists hold of a chain. The caller may change it.
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
