package onchain

import (
	"bytes"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
)

// program is one of the protocol's programs with the instructions that are known.
type program struct {
	role
	instructions map[discriminator]accountNames
}

// accountNames are the name of an instruction and those of the accounts that it wants, in sequence.
type accountNames struct {
	instruction string
	accounts    []string
	others      string // what accounts behind these are; empty: not known
}

// sending are the accounts by which a program has the gate send a message.
const sending = " nonce_storage send_from send_from_wallet system_program external_call_storage external_call_meta discount bridge_fee" +
	" bridge token_mint staking_wallet mint_authority chain_support_info settings_program spl_token_program state fee_beneficiary" +
	" debridge_program"

const (
	creating = "maker state token_mint give_order_state authorized_native_sender maker_wallet give_order_wallet nonce_master" +
		" fee_ledger_wallet system_program spl_token_program associated_spl_token_program"
	claiming = "submission submission_authority state fee_ledger fee_ledger_wallet instructions give_order_state" +
		" action_beneficiary_wallet action_beneficiary give_order_wallet token_mint authorized_native_sender spl_token_program"
)

// programs are those of the order protocol (IDL 3.0.0 of dln_src and dln_dst in
// debridge-finance/solana-tx-parser-public, tests/idl). Of the gate's instructions the names alone are read.
var programs = []program{
	{role{"dln_src", source}, named(
		accountNames{"create_order", strings.Fields(creating), ""},
		accountNames{"create_order_with_nonce", strings.Fields(creating), ""},
		accountNames{"patch_order_give", []string{"give_order_state"}, ""},
		accountNames{"claim_unlock", strings.Fields(claiming), ""},
		accountNames{"claim_order_cancel", strings.Fields(claiming), ""},
		accountNames{"withdraw_affiliate_fee", nil, ""},
	)},
	{role{"dln_dst", destination}, named(
		accountNames{"fulfill_order", strings.Fields(
			"take_order_state taker taker_wallet receiver_dst authorized_src_contract take_order_patch spl_token_program system_program"), ""},
		accountNames{"prepare_send", nil, ""},
		accountNames{"send_unlock", strings.Fields("take_order_state unlocker authorized_src_contract" + sending), ""},
		accountNames{"send_batch_unlock", strings.Fields("unlocker authorized_src_contract" + sending), "take_order_state"},
		accountNames{"cancel_order", strings.Fields("take_order_state authorized_src_contract canceler system_program"), ""},
		accountNames{"send_order_cancel", strings.Fields("take_order_state canceler authorized_src_contract" + sending), ""},
		accountNames{"patch_take_order", []string{"take_order_patch"}, ""},
	)},
	{role{"debridge", gate}, named(
		accountNames{"claim", nil, ""}, accountNames{"execute_external_call", nil, ""}, accountNames{"send", nil, ""},
	)},
}

func named(list ...accountNames) map[discriminator]accountNames {
	table := make(map[discriminator]accountNames, len(list))
	for _, each := range list {
		table[discriminatorOf("global", each.instruction)] = each
	}
	return table
}

// ReadInstructions reads a transaction's instructions for the protocol's programs, whatever their caller. Unknown
// ones keep discriminator, size and accounts.
func ReadInstructions(on chain.Chain, tx solana.Transaction) []order.ContractCall {
	var calls []order.ContractCall
	for _, each := range tx.Instructions {
		at := slices.IndexFunc(programs, func(p program) bool {
			address := p.address(on.Contracts)
			return !address.IsAbsent() && address == each.Program
		})
		if at < 0 {
			continue
		}
		d, _ := splitDiscriminator(each.Data)
		known := programs[at].instructions[d]
		calls = append(calls, order.ContractCall{
			Contract: each.Program, Role: programs[at].name, Function: known.instruction,
			Selector: bytes.Clone(each.Data[:min(len(d), len(each.Data))]), Size: len(each.Data),
			Arguments: known.arguments(on.ID, each.Accounts),
		})
	}
	return calls
}

func (n accountNames) arguments(on chain.ID, accounts []chain.Address) []order.Argument {
	arguments := make([]order.Argument, len(accounts))
	for i, account := range accounts {
		name := n.others
		if i < len(n.accounts) {
			name = n.accounts[i]
		}
		arguments[i] = order.Argument{Name: name, Kind: order.AccountArgument, Chain: on, Address: account}
	}
	return arguments
}
