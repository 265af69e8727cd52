package balancer

import (
	"fmt"
	"strconv"
	"strings"
)

// Names of rules.
const (
	lag   = "lag"
	split = "split"
	empty = "empty"
	drop  = "drop"
	null  = "null"
)

// Rule is one way in which nodes misbehave.
type Rule struct {
	name   string
	blocks uint64  // of lag and split
	share  float64 // of the calls or entries that it affects
}

// ParseRule parses a rule, with P as a probability:
//
//	lag:BLOCKS:P    a call is answered by a node that lags by this many blocks or slots
//	split:BLOCKS:P  a call is answered by a node that lags by a random number of blocks up to this one
//	empty:P         a list of logs or signatures is answered []
//	drop:P          an entry of such a list is left out
//	null:P          a block, transaction or receipt is answered null, but not Solana's blocks
func ParseRule(text string) (r Rule, err error) {
	parts := strings.Split(text, ":")
	r.name = parts[0]
	wanted := 2
	switch r.name {
	case lag, split:
		wanted = 3
	case empty, drop, null:
	default:
		return r, fmt.Errorf("rule %q: want lag:BLOCKS:P, split:BLOCKS:P, empty:P, drop:P or null:P", text)
	}
	if len(parts) != wanted {
		return r, fmt.Errorf("rule %q: want %d parts", text, wanted)
	}
	if wanted == 3 {
		if r.blocks, err = strconv.ParseUint(parts[1], 10, 32); err != nil {
			return r, fmt.Errorf("rule %q: %w", text, err)
		}
	}
	r.share, err = strconv.ParseFloat(parts[wanted-1], 64)
	if err != nil || r.share < 0 || r.share > 1 {
		return r, fmt.Errorf("rule %q: the last part is not a probability", text)
	}
	return r, nil
}

// ParseRules parses several rules.
func ParseRules(texts ...string) ([]Rule, error) {
	rules := make([]Rule, len(texts))
	for i, text := range texts {
		var err error
		if rules[i], err = ParseRule(text); err != nil {
			return nil, err
		}
	}
	return rules, nil
}
