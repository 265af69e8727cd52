package solana

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// outcome is the recorded result of a transaction's run.
type outcome struct {
	// rejected is why the runtime did not accept the transaction, as clients see it; nil if it did.
	rejected any
	err      *programError // nil if no instruction failed
	failed   int           // index of the outer instruction that failed
	fee      uint64        // lamports
	units    uint64        // compute units consumed
	price    uint64        // bid per compute unit, in micro-lamports
	logs     []string
	inner    [][]compiled // by outer instruction
	// Balances of the accounts before and after.
	lamportsBefore, lamportsAfter []uint64
	tokensBefore, tokensAfter     []tokenBalance
}

// failure returns why the transaction failed, as clients see it; nil if it did not.
func (o *outcome) failure() any {
	switch {
	case o.rejected != nil:
		return o.rejected
	case o.err == nil:
		return nil
	case o.err.isRuntime:
		return object{"InstructionError": []any{o.failed, o.err.name}}
	}
	return object{"InstructionError": []any{o.failed, object{"Custom": o.err.code}}}
}

// programError is a program's own error, identified by a code, or one of the runtime's, identified by a name.
type programError struct {
	code      uint32
	name      string
	message   string
	isRuntime bool
}

func (e *programError) Error() string { return fmt.Sprintf("%s (%d): %s", e.name, e.code, e.message) }

// logged returns the error as it appears in a transaction's logs.
func (e *programError) logged() string {
	if e.isRuntime {
		return e.message
	}
	return fmt.Sprintf("custom program error: 0x%x", e.code)
}

func custom(code uint32, name, message string) *programError {
	return &programError{code, name, message, false}
}

func runtimeError(name, message string) *programError { return &programError{0, name, message, true} }

// Errors of the runtime: solana-instruction-error.
var (
	errMalformed      = runtimeError("InvalidInstructionData", "invalid instruction data")
	errUnsigned       = runtimeError("MissingRequiredSignature", "missing required signature for instruction")
	errInvalidAccount = runtimeError("InvalidAccountData", "invalid account data for instruction")
	errFewAccounts    = runtimeError("NotEnoughAccountKeys", "insufficient account keys for instruction")
	errWrongProgram   = runtimeError("IncorrectProgramId", "incorrect program id for instruction")
	errInvalidSeeds   = runtimeError("InvalidSeeds", "Provided seeds do not result in a valid address")
	errArgument       = runtimeError("InvalidArgument", "invalid program argument")
	errLamports       = runtimeError("InsufficientFunds", "insufficient funds for instruction")
	errNoUnitsLeft    = runtimeError("ComputationalBudgetExceeded", "Computational budget exceeded")
)

// execution runs one transaction.
type execution struct {
	state   func(Key) *account // before the transaction
	tx      *transaction
	outcome *outcome
	written map[Key]*account
	current int    // index of the outer instruction
	budget  uint64 // remaining compute units
	// prepared records that prepare_send ran.
	prepared bool
}

// Fees and limits of the runtime: https://solana.com/docs/core/fees.
const (
	lamportsPerSignature = 5000
	unitsPerInstruction  = 200_000
	mostUnits            = 1_400_000
	microPerLamport      = 1_000_000
)

func newExecution(state func(Key) *account, t *transaction) *execution {
	return &execution{state: state, tx: t, outcome: &t.outcome, written: map[Key]*account{}}
}

// run executes every instruction. If a program fails, only the fee is charged. An error means that no fee was paid and
// nothing happened.
func (e *execution) run(instructions []Instruction) error {
	keys, o := e.tx.keys(), e.outcome
	payer := keys[0]
	o.lamportsBefore, o.tokensBefore = e.balances(keys)
	o.inner = make([][]compiled, len(instructions))
	e.setBudget(instructions)
	limit := e.budget
	o.fee = e.fee(limit)
	if o.lamportsBefore[0] < o.fee {
		return fmt.Errorf("%s has %d lamports, the fee is %d", payer, o.lamportsBefore[0], o.fee)
	}
	e.take(payer, o.fee)
	paid := e.written[payer]
	for e.current = range instructions {
		if o.err = e.invoke(instructions[e.current], 1); o.err != nil {
			o.failed, e.written = e.current, map[Key]*account{payer: paid}
			break
		}
	}
	o.units = limit - e.budget
	o.lamportsAfter, o.tokensAfter = e.balances(keys)
	return nil
}

// commit applies what the transaction wrote to the ledger.
func (e *execution) commit(c *Chain) {
	e.tx.before = map[Key]*account{}
	for at, content := range e.written {
		e.tx.before[at] = c.accounts[at]
		c.accounts[at] = content
	}
}

func (e *execution) setBudget(instructions []Instruction) {
	e.budget = min(uint64(len(instructions))*unitsPerInstruction, mostUnits)
	for _, in := range instructions {
		if in.Program != computeBudgetProgram || len(in.Data) < 2 {
			continue
		}
		switch number := readNumber(in.Data[1:]); in.Data[0] {
		case setComputeUnitLimit:
			e.budget = min(number, mostUnits)
		case setComputeUnitPrice:
			e.outcome.price = number
		}
	}
}

// readNumber reads a little-endian integer of any width.
func readNumber(raw []byte) (n uint64) {
	for _, b := range slices.Backward(raw) {
		n = n<<8 | uint64(b)
	}
	return n
}

// fee returns the transaction's cost to its payer.
func (e *execution) fee(limit uint64) uint64 {
	return uint64(len(e.tx.Signatures))*lamportsPerSignature + priorityFee(limit, e.outcome.price)
}

// priorityFee returns the cost in lamports of compute units at a price in micro-lamports, rounded up. On overflow it
// returns more than any account has.
func priorityFee(units, price uint64) uint64 {
	const most = math.MaxUint64 / 2
	high, low := bits.Mul64(units, price)
	if high > 0 || low > most {
		return most
	}
	return (low + microPerLamport - 1) / microPerLamport
}

// invoke runs a program and logs the invocation as the runtime does.
func (e *execution) invoke(in Instruction, depth int) *programError {
	e.print("Program %s invoke [%d]", in.Program, depth)
	available := e.budget
	e.budget -= min(e.budget, cost(in))
	err := (&invocation{execution: e, instruction: in, depth: depth}).result()
	if err == nil && available < cost(in) {
		err = errNoUnitsLeft
	}
	if !isBuiltin(in.Program) {
		e.print("Program %s consumed %d of %d compute units", in.Program, available-e.budget, available)
	}
	if err != nil {
		e.print("Program %s failed: %s", in.Program, err.logged())
		return err
	}
	e.print("Program %s success", in.Program)
	return nil
}

// print appends a line to the transaction's logs, as the runtime and its own programs write them.
func (e *execution) print(format string, args ...any) {
	e.outcome.logs = append(e.outcome.logs, fmt.Sprintf(format, args...))
}

// cost approximates a program's consumption of compute units: fixed for builtin ones, else by the size of the input.
func cost(in Instruction) uint64 {
	const builtin, base, perAccount, perByte = 150, 4200, 1300, 11
	if isBuiltin(in.Program) {
		return builtin
	}
	return base + perAccount*uint64(len(in.Accounts)) + perByte*uint64(len(in.Data))
}

// account returns what an address holds at this point, or nil.
func (e *execution) account(at Key) *account {
	if content, written := e.written[at]; written {
		return content
	}
	return e.state(at)
}

// write replaces what an address holds.
func (e *execution) write(at Key, content account) { e.written[at] = &content }

// update rewrites an account in place.
func (e *execution) update(at Key, data []byte, state any) {
	changed := *e.account(at)
	changed.data, changed.state = data, state
	e.write(at, changed)
}

// take subtracts lamports, which must be available.
func (e *execution) take(from Key, lamports uint64) {
	changed := *e.account(from)
	changed.lamports -= lamports
	e.write(from, changed)
}

func (e *execution) balances(keys []Key) (lamports []uint64, tokens []tokenBalance) {
	for i, k := range keys {
		content := e.account(k)
		if content == nil {
			lamports = append(lamports, 0)
			continue
		}
		lamports = append(lamports, content.lamports)
		if held, ok := content.state.(tokenAccount); ok {
			tokens = append(tokens, tokenBalance{index: i, program: content.owner, tokenAccount: held})
		}
	}
	return lamports, tokens
}

// invocation is one run of a program. A program fails by a panic with its error, which only its own invocation
// recovers. As in the real runtime, the failed program cannot continue, and its caller fails with it.
type invocation struct {
	*execution
	instruction Instruction
	depth       int
}

// result runs the program and returns its error, if any.
func (i *invocation) result() (err *programError) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case *programError:
			err = failure
		default:
			panic(failure) // a bug in the sandbox
		}
	}()
	i.run()
	return nil
}

// require fails the program unless a condition holds.
func (i *invocation) require(holds bool, err *programError) {
	if !holds {
		panic(err)
	}
}

// check fails like an Anchor program unless a condition holds.
func (i *invocation) check(holds bool, code uint32, name, message string) {
	if !holds {
		i.log("AnchorError occurred. Error Code: %s. Error Number: %d. Error Message: %s.", name, code, message)
		panic(custom(code, name, message))
	}
}

// log writes a program's log message.
func (i *invocation) log(format string, args ...any) { i.print("Program log: "+format, args...) }

// emit writes an Anchor event.
func (i *invocation) emit(name string, fields ...any) {
	i.print("Program data: %s", base64.StdEncoding.EncodeToString(anchor("event", name, fields...)))
}

// call invokes other programs in turn.
func (i *invocation) call(instructions ...Instruction) {
	for _, in := range instructions {
		indexed, err := i.tx.index(in)
		if err != nil {
			panic(runtimeError("PrivilegeEscalation", err.Error()))
		}
		i.outcome.inner[i.current] = append(i.outcome.inner[i.current], compiled{indexed, i.depth + 1})
		if err := i.invoke(in, i.depth+1); err != nil {
			panic(err)
		}
	}
}

// move moves lamports.
func (i *invocation) move(from, to Key, lamports uint64) {
	source := i.account(from)
	i.require(source != nil && source.lamports >= lamports, errLamports)
	i.take(from, lamports)
	target := account{}
	if content := i.account(to); content != nil {
		target = *content
	}
	target.lamports += lamports
	i.write(to, target)
}

// create creates an account owned by program and paid for by payer, in a call of the system program.
func (i *invocation) create(payer, at, program Key, data []byte, state any) {
	content := i.account(at)
	i.check(content == nil || len(content.data) == 0, 0, "AccountInUse", "account "+at.String()+" is in use")
	i.call(createAccount(payer, at, program, rent(len(data)), len(data)))
	i.update(at, data, state)
}
