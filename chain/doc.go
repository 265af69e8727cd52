// Package chain defines the vocabulary that all other packages share: chains, addresses, hashes and amounts.
//
// Text is parsed into these types where it enters the gateway, and formatted where it leaves. A [Family] of chains has
// one notation of addresses and hashes, one way to be called and one fee model. [ID] is the API's number of a chain,
// which may differ from the chain's own. [Amount] is an unsigned 256-bit integer of a token's smallest units and
// saturates instead of wrapping. Values compare with ==, and the zero value of an address or a hash is absent.
//
// [Registry] holds facts about chains; [Documented] is chains.yaml, compiled in. The package imports no other and keeps
// no state.
package chain
