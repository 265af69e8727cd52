package order

import (
	"context"

	"crossgate/chain"
)

// TransactionSource is a Source that reads transactions whole, for people to look at.
type TransactionSource interface {
	// Transaction returns a transaction that is in a block; ErrNotFound when the chain does not know it there.
	Transaction(ctx context.Context, tx chain.TxHash) (Transaction, error)
}

// TellerSource is a Source that remembers the endpoints that transactions were read from.
type TellerSource interface {
	// Tellers returns the names of the endpoints whose word on a transaction with events, in the block with a hash, was
	// taken, each once: none where that is not remembered, as after a restart.
	Tellers(tx chain.TxHash, block chain.Hash) []string
}

// Transaction is a transaction as its chain has it.
type Transaction struct {
	Chain   chain.ID
	Hash    chain.TxHash
	Block   uint64        // slot on Solana
	Sender  chain.Address // fee payer on Solana
	Nonce   *uint64       // of the sender's transactions; nil on Solana
	Value   chain.Amount  // native coin that the first call carries
	GasUsed *uint64       // gas, on TRON energy, on Solana compute units; nil where the chain does not report it
	Fee     *chain.Amount // native coin that the sender paid to have it run; nil where the chain does not report all of it

	// Calls are the transaction's call of a contract, or on Solana its instructions for the programs of the order
	// protocol, whatever their caller.
	Calls []ContractCall

	By []string // names of the endpoints that it was read from, each once
}

// ContractCall is a call of a contract's function, or an instruction for a program on Solana.
type ContractCall struct {
	Contract chain.Address // absent: the transaction creates one
	Role     string        // what the protocol calls the contract; empty: it is none of the protocol's
	Function string        // empty: not known
	Selector []byte        // with which the data begins: 4 bytes, 8 on Solana, or all of the data where it has fewer
	Size     int           // bytes of the data

	Arguments []Argument // those that could be read, in sequence; on Solana the accounts that the program wants
	Unread    []string   // types of those behind them, which are not known or not encoded as the ABI demands
	Unused    int        // bytes of the data behind all arguments
	// Irregular says that the arguments are not encoded as compilers do it, though contracts may well read them.
	Irregular bool
}

// Argument is an argument of a call, or a member of one.
type Argument struct {
	Name string // in the words of the contract's source; empty: not public
	Type string // of Solidity's ABI; empty on Solana
	Kind ArgumentKind

	Chain   chain.ID      // that Address is on; 0: not in the call
	Address chain.Address // of an account, a token, or the token that an amount is of
	Number  chain.Amount  // of every kind that is a number; 1 is true
	Bytes   []byte        // of a hash, and of whatever has no better meaning
	Members []Argument    // of a struct, a list, or bytes that hold several things
	Call    *ContractCall // that the bytes are; nil: they are none
}

// ArgumentKind is what an argument means.
type ArgumentKind uint8

// What arguments mean.
const (
	BytesArgument   ArgumentKind = iota // also a call
	NumberArgument                      // of nothing in particular
	TruthArgument                       // true or false
	AmountArgument                      // of the token Address
	ShareArgument                       // in basis points
	ChainArgument                       // the id of a chain
	AccountArgument                     // an address of any kind
	TokenArgument
	HashArgument // the id of an order or of a message
	MembersArgument
)
