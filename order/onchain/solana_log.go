package onchain

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/chain/solana"
)

// invocation is an executed instruction with its own events, excluding those of instructions that it called.
type invocation struct {
	solana.Instruction
	events [][]byte
	cut    bool // the logs end before the instruction, so events may be missing
}

// invocations matches instructions with logs. Only the runtime writes lines that begin like these: the start and end of
// each program, in the order of instructions; precompiled programs write none. Lines after the end of truncated logs
// are ignored, and so are lines that do not match the instructions.
func invocations(tx solana.Transaction) []invocation {
	list := make([]invocation, len(tx.Instructions))
	for i, instruction := range tx.Instructions {
		list[i] = invocation{Instruction: instruction, cut: true}
	}
	var running []*invocation
	waiting := list
	for _, line := range tx.Logs {
		said, ok := strings.CutPrefix(line, "Program ")
		if !ok {
			if line == "Log truncated" {
				break
			}
			continue
		}
		subject, verb, _ := strings.Cut(said, " ")
		switch {
		case subject == "log:", subject == "return:":
		case subject == "data:":
			if len(running) > 0 {
				running[len(running)-1].addEvents(verb)
			}
		case strings.HasPrefix(verb, "invoke ["):
			begun := begin(waiting, subject, len(running) == 0)
			if begun < 0 || verb != "invoke ["+strconv.Itoa(len(running)+1)+"]" {
				return list
			}
			running = append(running, &waiting[begun])
			waiting[begun].Depth = len(running)
			waiting = waiting[begun+1:]
		case verb == "success":
			if len(running) == 0 {
				return list
			}
			running[len(running)-1].cut = false
			running = running[:len(running)-1]
		}
	}
	return list
}

// IsCut reports whether part of a transaction may be missing, because its logs do not show how an instruction of the
// protocol ended. Logs are truncated at a certain length; otherwise the node lost them, or the inner instructions.
func IsCut(c chain.Contracts, tx solana.Transaction) bool {
	protocol := []chain.Address{c.DlnSource, c.DlnDestination, c.Gate, c.ExternalCallAdapter}
	return slices.ContainsFunc(invocations(tx), func(i invocation) bool { return i.cut && slices.Contains(protocol, i.Program) })
}

// begin returns the index of the waiting instruction that the program starts to execute, -1 if there is none: nodes may
// omit the inner instructions.
func begin(waiting []invocation, program string, isOuter bool) int {
	address, err := chain.ParseAddress(program, chain.SVM)
	if err != nil {
		return -1
	}
	for i, each := range waiting {
		if each.Program == address && (each.Depth <= 1) == isOuter {
			return i
		}
	}
	return -1
}

func (i *invocation) addEvents(fields string) {
	for field := range strings.FieldsSeq(fields) {
		if data, err := base64.StdEncoding.DecodeString(field); err == nil {
			i.events = append(i.events, data)
		}
	}
}

// event returns the data after the discriminator of the first event with that discriminator.
func (i *invocation) event(d discriminator) (data []byte, found bool) {
	for _, event := range i.events {
		if found, rest := splitDiscriminator(event); found == d {
			return rest, true
		}
	}
	return nil, false
}
