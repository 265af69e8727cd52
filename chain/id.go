package chain

import (
	"fmt"
	"strconv"
)

// ID is the API's number of a chain. Below 100000000 it is the EIP-155 ID; newer chains have a number of the protocol's
// own (Sonic: 100000014, natively 146). Zero means no chain.
type ID uint64

// IDs that the protocol's rules refer to.
const (
	Ethereum ID = 1
	Solana   ID = 7565164
	Tron     ID = 100000026
)

// ParseID parses a chain ID in decimal digits.
func ParseID(text string) (ID, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%.80q is not a chain id", text)
	}
	return ID(n), nil
}

func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// Family groups chains that share addresses, RPC and fees.
type Family uint8

// The families of the documented chains.
const (
	UnknownFamily Family = iota
	EVM
	SVM
	TVM
)

var familyNames = map[Family]string{EVM: "evm", SVM: "solana", TVM: "tron"}

func (f Family) String() string {
	if name, known := familyNames[f]; known {
		return name
	}
	return "unknown"
}

// ParseFamily parses a family's name as String formats it.
func ParseFamily(name string) (Family, error) {
	for family, known := range familyNames {
		if known == name {
			return family, nil
		}
	}
	return UnknownFamily, fmt.Errorf("%.80q is not a chain family (evm, solana, tron)", name)
}

// UnmarshalText parses a name like ParseFamily.
func (f *Family) UnmarshalText(name []byte) (err error) {
	*f, err = ParseFamily(string(name))
	return err
}
