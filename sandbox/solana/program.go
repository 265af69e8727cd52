package solana

import (
	"encoding/binary"
	"fmt"
)

// run carries an instruction out. Those that the ledger makes of the order protocol carry what they do; the
// programs below read accounts and data, whoever wrote them.
func (i *invocation) run() error {
	if i.instruction.run != nil {
		return i.instruction.run(i)
	}
	switch i.instruction.Program {
	case systemProgram:
		return i.system()
	case tokenProgram, token2022Program:
		return i.token()
	case associatedProgram:
		return i.associated()
	case poolProgram:
		return i.pool()
	case jupiterProgram:
		return i.jupiter()
	case dflowProgram:
		return i.dflow()
	}
	return nil
}

// isRunnable reports whether the ledger can run a program's instructions from their accounts and data alone.
func isRunnable(program Key) bool {
	switch program {
	case systemProgram, computeBudgetProgram, tokenProgram, token2022Program, associatedProgram, poolProgram, jupiterProgram, dflowProgram:
		return true
	}
	return false
}

// accounts are the first accounts of the instruction, of which so many are needed.
func (i *invocation) accounts(count int) ([]Meta, error) {
	if len(i.instruction.Accounts) < count {
		return nil, fault("NotEnoughAccountKeys", "insufficient account keys for instruction")
	}
	return i.instruction.Accounts, nil
}

// errMalformed is what programs answer to data that they cannot read.
var errMalformed = fault("InvalidInstructionData", "invalid instruction data")

// errUnsigned is what programs answer when somebody who must sign has not.
var errUnsigned = fault("MissingRequiredSignature", "missing required signature for instruction")

// errAccount is what programs answer to an account that is not what it should be.
var errAccount = fault("InvalidAccountData", "invalid account data for instruction")

// system is the system program: https://docs.rs/solana-system-interface.
func (i *invocation) system() error {
	data := i.instruction.Data
	if len(data) < 4 {
		return errMalformed
	}
	accounts, err := i.accounts(2)
	if err != nil {
		return err
	}
	from, to := accounts[0], accounts[1]
	switch number := binary.LittleEndian.Uint32(data); {
	case number == systemTransfer && len(data) == 12:
		return i.pay(from, to, binary.LittleEndian.Uint64(data[4:]))
	case number == systemCreateAccount && len(data) == 52:
		lamports, size := binary.LittleEndian.Uint64(data[4:]), binary.LittleEndian.Uint64(data[12:])
		return i.open(from, to, lamports, size, Key(data[20:]))
	}
	return errMalformed
}

// pay moves lamports between accounts of the system program.
func (i *invocation) pay(from, to Meta, lamports uint64) error {
	source := i.account(from.Key)
	switch {
	case !from.Signer:
		return errUnsigned
	case source != nil && len(source.data) > 0:
		i.logBare("Transfer: `from` must not carry data")
		return fault("InvalidArgument", "invalid program argument")
	case source == nil || source.lamports < lamports:
		var has uint64
		if source != nil {
			has = source.lamports
		}
		i.logBare("Transfer: insufficient lamports %d, need %d", has, lamports)
		return &refusal{code: 1, name: "ResultWithNegativeLamports", message: "insufficient lamports"}
	}
	return i.move(from.Key, to.Key, lamports)
}

// open makes an account of zeros that a program owns.
func (i *invocation) open(payer, at Meta, lamports, size uint64, owner Key) error {
	const largest = 10 << 20
	if content := i.account(at.Key); content != nil && (content.lamports > 0 || len(content.data) > 0) {
		i.logBare("Create Account: account Address { address: %s, base: None } already in use", at.Key)
		return &refusal{code: 0, name: "AccountAlreadyInUse", message: fmt.Sprintf("account %s is in use", at.Key)}
	}
	if !at.Signer {
		return errUnsigned
	}
	if size > largest {
		return &refusal{code: 3, name: "InvalidAccountDataLength", message: "cannot allocate account data of this length"}
	}
	if err := i.pay(payer, at, lamports); err != nil {
		return err
	}
	i.write(at.Key, held{lamports: lamports, owner: owner, data: make([]byte, size)})
	return nil
}

// Instructions of the program of associated accounts: no data means the first.
const (
	associatedCreate           = 0
	associatedCreateIdempotent = 1
)

// associated opens the account where somebody keeps a token by custom: spl-associated-token-account.
func (i *invocation) associated() error {
	accounts, err := i.accounts(6)
	if err != nil {
		return err
	}
	data := i.instruction.Data
	if len(data) > 1 || len(data) == 1 && data[0] > associatedCreateIdempotent {
		return errMalformed
	}
	payer, at, owner, mint := accounts[0].Key, accounts[1].Key, accounts[2].Key, accounts[3].Key
	t, err := tokenOf(mint)
	if err != nil || t.program != accounts[5].Key {
		return fault("IncorrectProgramId", "incorrect program id for instruction")
	}
	if t.Wallet(owner) != at {
		i.log("Error: Associated address does not match seed derivation")
		return fault("InvalidSeeds", "Provided seeds do not result in a valid address")
	}
	if len(data) == 0 || data[0] == associatedCreate {
		i.log("Create")
	} else {
		i.log("CreateIdempotent")
		if account, exists := i.tokens(at); exists && account.owner == owner {
			return nil
		}
	}
	if !accounts[0].Signer {
		return errUnsigned
	}
	return i.createTokens(payer, at, owner, t)
}
