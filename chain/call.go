package chain

// ContractCall is calldata for a contract.
type ContractCall struct {
	To   Address
	Data []byte
}
