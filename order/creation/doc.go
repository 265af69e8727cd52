// Package creation is the making of an order on an EVM chain: the call of DlnSource, direct or through the public
// router with a swap before, as calldata in both directions; the order's costs and its id; and, from the state of the
// chain, the outcome of such a transaction, or the reason for its refusal. It is pure: the state is handed in.
//
// The rules are those of the protocol's contracts (debridge-finance/dln-contracts at version 1.4.0, DeBridgeRouter
// 3.2.0), as transactions that were executed on them show. Later versions have the same functions and the same event.
package creation
