package config

import (
	"fmt"
	"time"
)

// Swap says how swaps are executed and how long a comparison of venues may take.
type Swap struct {
	Execution Execution     `yaml:"execution"` // on chains that do not say otherwise
	Window    time.Duration `yaml:"window"`    // venues that have not priced a swap by then are left out
	Deadline  time.Duration `yaml:"deadline"`  // of the whole answer, with the transaction
}

// Execution is which contract the transactions of swaps call.
type Execution string

// The ways of execution.
const (
	ExecuteByRouter Execution = "router" // the protocol's public router, where it calls the venue's; else direct
	ExecuteDirectly Execution = "direct" // the venue's own router
	ExecuteBest     Execution = "best"   // whichever leaves the recipient more
)

// ParseExecution reads a way of execution.
func ParseExecution(text string) (Execution, error) {
	switch e := Execution(text); e {
	case ExecuteByRouter, ExecuteDirectly, ExecuteBest:
		return e, nil
	}
	return "", fmt.Errorf("%q is no way of execution", text)
}

func defaultSwap() Swap {
	return Swap{Execution: ExecuteByRouter, Window: 2500 * time.Millisecond, Deadline: 6 * time.Second}
}

func (s Swap) check(at place) {
	if s.Window <= 0 {
		at.key("window").mistake("want more than nothing")
	}
	if s.Deadline <= s.Window {
		at.key("deadline").mistake("want more than the window: the best venue's transaction is built after it")
	}
}
