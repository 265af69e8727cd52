package creation

import (
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
)

// CallReceiver returns the program that orders with an external call must have as their receiver on Solana, since
// dln_dst delivers to it (docs of hooks for Solana; class DlnDst of @debridge-finance/dln-client 8.3.6). Elsewhere,
// without a call, and if it is unknown, it is absent.
func CallReceiver(take chain.Chain, call []byte) chain.Address {
	if take.Family != chain.SVM || len(call) == 0 {
		return chain.Address{}
	}
	return take.Contracts.ExternalCallAdapter
}

// CanCancelSolanaCall returns why the external call in an onchain.CallAccount cannot be cancelled; nil: it can.
func CanCancelSolanaCall(account []byte) error {
	state, err := onchain.DecodeCallAccount(account)
	switch {
	case err != nil:
		return fmt.Errorf("state of the external call: %w", err)
	case state == order.Completed:
		return ErrCallExecuted
	case !state.IsUnderWay():
		return ErrCallNotOpen
	}
	return nil
}

// CancelSolanaCall returns the instructions with which an order's authority takes the delivery instead of the external
// call: coin into its wallet, tokens of a token program into its associated account, which they open. The accounts are
// those of make_fallback (IDL of extcall_program 1.1.1 and seeds in @debridge-finance/dln-client 8.3.6).
func CancelSolanaCall(c chain.Contracts, id order.ID, t order.Terms, program chain.Address) (made []solana.DraftInstruction) {
	of := func(name string) chain.Address {
		return solana.ProgramAddress(c.ExternalCallAdapter, []byte(name), id[:])
	}
	authority, keeper := t.Authorities.Order, of("AUTH")
	from, to := keeper, authority
	if mint := t.Take.Token; !mint.IsNative() {
		from, to = of("WALLET"), solana.TokenAccount(authority, program, mint)
		made = append(made, solana.OpenTokenAccount(authority, program, mint))
	}
	return append(made, solana.DraftInstruction{
		Program: c.ExternalCallAdapter, Data: onchain.SolanaFallback(id),
		Accounts: []solana.DraftAccount{
			write(onchain.CallAccount(c, id)), read(keeper), write(from), sign(authority), write(to),
			read(solana.SystemProgram), read(program),
		},
	})
}
