package crosschain

import (
	"crossgate/chain"
)

// Place is a token on a chain.
type Place struct {
	Chain chain.ID
	Token chain.Address // the zero address is the native coin
}

// Route is the tokens that an amount goes through: into a reserve token, over to its equivalent, and out of it.
type Route struct {
	TokenIn, TokenOut chain.Address
	Give, Take        Place // reserve tokens on the source and the destination chain
}
