package onchain

import (
	"crossgate/chain"
	"crossgate/order"
)

// scope are arguments by whose names others say what they mean, the innermost struct's first.
type scope struct {
	arguments []order.Argument
	outer     *scope
}

// named is the argument with a name, nil where there is none.
func (s *scope) named(name string) *order.Argument {
	for ; s != nil; s = s.outer {
		if found := argumentNamed(s.arguments, name); found != nil {
			return found
		}
	}
	return nil
}

func argumentNamed(arguments []order.Argument, name string) *order.Argument {
	for i := range arguments {
		if arguments[i].Name == name {
			return &arguments[i]
		}
	}
	for i := range arguments {
		if found := argumentNamed(arguments[i].Members, name); found != nil {
			return found
		}
	}
	return nil
}

// resolve says of each argument what others say about it: chains first, then the tokens of amounts and the contracts of
// calls.
func (r callReader) resolve(parameters []parameter, s scope) {
	r.each(parameters, s, r.putOnChain)
	r.each(parameters, s, r.relate)
}

// each visits arguments with their parameters, and the members of those that have some.
func (r callReader) each(parameters []parameter, s scope, visit func(parameter, *order.Argument, *scope)) {
	for i := range s.arguments {
		p, a := parameters[i], &s.arguments[i]
		visit(p, a, &s)
		inner := scope{a.Members, &s}
		switch {
		case len(a.Members) == 0 || p.packed != nil:
		case p.within != nil:
			r.each(p.within, inner, visit)
		case p.abi == "tuple":
			r.each(p.members, inner, visit)
		default:
			elements := make([]parameter, len(a.Members))
			for j := range elements {
				elements[j] = p.element()
			}
			r.each(elements, inner, visit)
		}
	}
}

// putOnChain says on which chain an account or a token is.
func (r callReader) putOnChain(p parameter, a *order.Argument, s *scope) {
	switch {
	case p.packed != nil:
		for i := range a.Members {
			a.Members[i].Chain = r.chain.ID
		}
	case p.kind != order.AccountArgument && p.kind != order.TokenArgument:
	case p.on == "":
		a.Chain = r.chain.ID
	default:
		if teller := s.named(p.on); teller != nil {
			a.Chain = chainID(teller.Number)
		}
	}
}

// chainID is 0 for a number that cannot be a chain's.
func chainID(number chain.Amount) chain.ID {
	n, fits := number.Uint64()
	if !fits || n>>63 != 0 {
		return 0
	}
	return chain.ID(n)
}

// relate says which token an amount is of, and reads calls.
func (r callReader) relate(p parameter, a *order.Argument, s *scope) {
	other := s.named(p.of)
	if p.to != nil {
		other = &order.Argument{Address: p.to.address(r.chain.Contracts)}
	} else if p.of == "" || other == nil {
		return
	}
	switch {
	case p.packed != nil:
		for i := range a.Members {
			if a.Members[i].Kind == order.AmountArgument {
				a.Members[i].Chain, a.Members[i].Address = other.Chain, other.Address
			}
		}
	case p.kind == order.AmountArgument:
		a.Chain, a.Address = other.Chain, other.Address
	case p.kind == order.BytesArgument && len(a.Bytes) > 0 && r.nested > 0:
		call := readCall(r.chain, other.Address, a.Bytes, r.nested-1)
		a.Call = &call
	}
}
