// Package creation encodes, decodes and judges transactions that create an order: calls of DlnSource on EVM chains,
// direct or through the public router after a swap, and instructions of dln_src on Solana. Given a chain's state, it
// forecasts costs, ID and outcome. It also encodes cancellations and unlocks. It is pure.
//
// The rules are those of the protocol's contracts (debridge-finance/dln-contracts at version 1.4.0, DeBridgeRouter
// 3.2.0), as confirmed by executed transactions. Later versions have the same functions and the same event.
package creation
