// Package creation is the making of an order on an EVM chain: what DlnSource is asked for, directly or through the
// public router with a swap before, as calldata in both directions; what the order costs and which id it gets; and,
// from the state of the chain, what the contracts would make of such a transaction and why they would refuse it. It is
// pure: the state is handed in.
//
// The rules are those of the protocol's contracts (debridge-finance/dln-contracts at version 1.4.0, DeBridgeRouter
// 3.2.0), as transactions that were executed on them show. Later versions have the same functions and the same event.
package creation
