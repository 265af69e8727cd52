package solana

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// outcome is what the ledger keeps of a transaction's run.
type outcome struct {
	refusal *refusal // nil: it succeeded
	failed  int      // the outer instruction that did not
	// rejected is why no instruction counts, as the runtime says it; nil when that is not so.
	rejected any
	fee      uint64 // lamports
	units    uint64 // of compute
	price    uint64 // bid for a unit, in micro-lamports
	logs     []string
	inner    [][]compiled // by outer instruction
	// What the accounts held before and after.
	lamportsBefore, lamportsAfter []uint64
	tokensBefore, tokensAfter     []tokenBalance
}

// refusal is a program's own error, or one of those that the runtime has a name for.
type refusal struct {
	code    uint32
	name    string
	message string
	named   bool // it has no code
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%d): %s", r.name, r.code, r.message) }

// fault is an error of the runtime: solana-instruction-error.
func fault(name, message string) *refusal { return &refusal{name: name, message: message, named: true} }

// said is the error in a transaction's logs.
func (r *refusal) said() string {
	if r.named {
		return r.message
	}
	return fmt.Sprintf("custom program error: 0x%x", r.code)
}

// look is the error as clients see it.
func (r *refusal) look() any {
	if r.named {
		return r.name
	}
	return map[string]any{"Custom": r.code}
}

// execution runs one transaction.
type execution struct {
	state   func(Key) *held // before it
	tx      *recorded
	outcome *outcome
	written map[Key]*held
	current int    // outer instruction
	budget  uint64 // compute units left
}

// Fees and limits of the runtime: https://solana.com/docs/core/fees.
const (
	lamportsPerSignature = 5000
	unitsPerInstruction  = 200_000
	mostUnits            = 1_400_000
	microPerLamport      = 1_000_000
)

func newExecution(state func(Key) *held, r *recorded) *execution {
	return &execution{state: state, tx: r, outcome: &r.outcome, written: map[Key]*held{}}
}

// run carries every instruction out. A refusal leaves only the fee; an error is a mistake of ours, and
// nothing happened.
func (e *execution) run(instructions []Instruction) (*refusal, error) {
	keys := e.tx.message.keys()
	payer := keys[0]
	e.outcome.lamportsBefore, e.outcome.tokensBefore = e.balances(keys)
	e.outcome.inner = make([][]compiled, len(instructions))
	e.setBudget(instructions)
	limit := e.budget
	if err := e.payFee(payer, limit); err != nil {
		return nil, err
	}
	paid := e.written[payer]
	for i, in := range instructions {
		e.current = i
		err := e.invoke(in, 1)
		if err == nil {
			continue
		}
		if !errors.As(err, &e.outcome.refusal) {
			return nil, fmt.Errorf("instruction %d: %w", i, err)
		}
		e.outcome.failed = i
		e.written = map[Key]*held{payer: paid}
		break
	}
	e.outcome.units = limit - e.budget
	e.outcome.lamportsAfter, e.outcome.tokensAfter = e.balances(keys)
	return e.outcome.refusal, nil
}

// commit makes what the transaction wrote the ledger's state.
func (e *execution) commit(c *Chain) {
	e.tx.before = map[Key]*held{}
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

// fee is what the transaction costs whoever pays for it.
func (e *execution) fee(limit uint64) uint64 {
	return uint64(len(e.tx.signatures))*lamportsPerSignature + priorityOf(limit, e.outcome.price)
}

// priorityOf is what compute units cost at a price in micro-lamports, in lamports and rounded up; more than there is
// where it does not fit.
func priorityOf(units, price uint64) uint64 {
	const most = math.MaxUint64 / 2
	high, low := bits.Mul64(units, price)
	if high > 0 || low > most {
		return most
	}
	return (low + microPerLamport - 1) / microPerLamport
}

func (e *execution) payFee(payer Key, limit uint64) error {
	e.outcome.fee = e.fee(limit)
	return e.move(payer, Key{}, e.outcome.fee)
}

// invoke logs a program's run as the runtime does.
func (e *execution) invoke(in Instruction, depth int) error {
	log := func(format string, args ...any) {
		e.outcome.logs = append(e.outcome.logs, fmt.Sprintf(format, args...))
	}
	log("Program %s invoke [%d]", in.Program, depth)
	available := e.budget
	e.budget -= min(e.budget, cost(in))
	err := (&invocation{execution: e, instruction: in, depth: depth}).run()
	if err == nil && available < cost(in) {
		err = fault("ComputationalBudgetExceeded", "Computational budget exceeded")
	}
	if !isBuiltin(in.Program) {
		log("Program %s consumed %d of %d compute units", in.Program, available-e.budget, available)
	}
	var refused *refusal
	if errors.As(err, &refused) {
		log("Program %s failed: %s", in.Program, refused.said())
	}
	if err == nil {
		log("Program %s success", in.Program)
	}
	return err
}

// cost is roughly what programs consume: the builtin ones a fixed number, others by what they read.
func cost(in Instruction) uint64 {
	const builtin, base, perAccount, perByte = 150, 4200, 1300, 11
	if isBuiltin(in.Program) {
		return builtin
	}
	return base + perAccount*uint64(len(in.Accounts)) + perByte*uint64(len(in.Data))
}

// account is what an account holds now; nil when there is none.
func (e *execution) account(at Key) *held {
	if content, written := e.written[at]; written {
		return content
	}
	return e.state(at)
}

// stateOf is what an account says, if it is of that kind.
func stateOf[S any](content *held) (state S, ok bool) {
	if content != nil {
		state, ok = content.state.(S)
	}
	return state, ok
}

// write replaces what an account holds.
func (e *execution) write(at Key, content held) { e.written[at] = &content }

// move moves lamports; a zero key stands for the validators.
func (e *execution) move(from, to Key, lamports uint64) error {
	source := e.account(from)
	if source == nil || source.lamports < lamports {
		return fmt.Errorf("%s has not %d lamports", from, lamports)
	}
	changed := *source
	changed.lamports -= lamports
	e.write(from, changed)
	if to == (Key{}) {
		return nil
	}
	target := held{}
	if content := e.account(to); content != nil {
		target = *content
	}
	target.lamports += lamports
	e.write(to, target)
	return nil
}

func (e *execution) balances(keys []Key) (lamports []uint64, tokens []tokenBalance) {
	for i, k := range keys {
		content := e.account(k)
		if content == nil {
			lamports = append(lamports, 0)
			continue
		}
		lamports = append(lamports, content.lamports)
		if account, ok := content.state.(tokenAccount); ok {
			tokens = append(tokens, tokenBalance{index: i, program: content.owner, tokenAccount: account})
		}
	}
	return lamports, tokens
}

// invocation is one program's run.
type invocation struct {
	*execution
	instruction Instruction
	depth       int
}

// log writes what a program says.
func (i *invocation) log(format string, args ...any) {
	i.outcome.logs = append(i.outcome.logs, "Program log: "+fmt.Sprintf(format, args...))
}

// logBare writes what the runtime's own programs say.
func (i *invocation) logBare(format string, args ...any) {
	i.outcome.logs = append(i.outcome.logs, fmt.Sprintf(format, args...))
}

// emit writes an Anchor event.
func (i *invocation) emit(event borsh) {
	i.outcome.logs = append(i.outcome.logs, "Program data: "+base64.StdEncoding.EncodeToString(event))
}

// refuse fails as Anchor does.
func (i *invocation) refuse(code uint32, name, message string) error {
	i.log("AnchorError occurred. Error Code: %s. Error Number: %d. Error Message: %s.", name, code, message)
	return &refusal{code: code, name: name, message: message}
}

// call invokes another program.
func (i *invocation) call(in Instruction) error {
	c, err := i.tx.message.index(in, i.depth+1)
	if err != nil {
		return fault("PrivilegeEscalation", err.Error())
	}
	i.outcome.inner[i.current] = append(i.outcome.inner[i.current], c)
	return i.invoke(in, i.depth+1)
}

// create makes an account that program owns, paid for by payer, by a call of the system program.
func (i *invocation) create(payer, at, program Key, data []byte, state any) error {
	if content := i.account(at); content != nil && len(content.data) > 0 {
		return i.refuse(0, "AccountInUse", fmt.Sprintf("account %s is in use", at))
	}
	if err := i.call(createAccount(payer, at, program, rent(len(data)), len(data))); err != nil {
		return err
	}
	i.write(at, held{lamports: i.account(at).lamports, owner: program, data: data, state: state})
	return nil
}

// update rewrites an account in place.
func (i *invocation) update(at Key, data []byte, state any) {
	changed := *i.account(at)
	changed.data, changed.state = data, state
	i.write(at, changed)
}
