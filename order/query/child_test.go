package query

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// childPlan is the environment variable that makes the test binary a process that follows clockwork chains until it is
// killed.
const childPlan = "CROSSGATE_INDEX_CHILD"

// plan is the work of such a process.
type plan struct {
	Store       string // path of the database file
	Start       time.Time
	First, Last uint64
	Every       time.Duration
	Lookback    uint64
	Silent      uint64 // the chains withhold events of earlier blocks
}

func (p plan) chains() map[chain.ID]*clockwork { return clockworks(p.Start, p.First, p.Last, p.Every) }

// Lines that the process prints.
const (
	isOpen    = "open"   // the store is open
	hasStored = "stored" // a range of history was stored
)

// index reads in small ranges, 20 blocks of history each, so that a plan takes many of them.
func (p plan) index(store *store.DB, chains map[chain.ID]*clockwork) *Index {
	return newIndex(store, sourcesOf(chains), quietly(follow.Options{
		Chains: evmChains(1, 137), Lookback: p.Lookback, Range: 1, Pace: follow.Pace{Asked: 10 * time.Millisecond},
	}))
}

// beChild executes a plan, until the parent exits or kills it.
func beChild(text string) error {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	store, err := store.OpenSQLite(ctx, p.Store)
	if err != nil {
		return err
	}
	chains := p.chains()
	for _, c := range chains {
		c.silent = p.Silent
	}
	x := p.index(store, chains)
	fmt.Println(isOpen)
	var working sync.WaitGroup
	working.Go(func() {
		_ = audit.Of(x.Chains).Backfill(ctx, func(done audit.Progress) {
			if done.Err == nil {
				fmt.Println(hasStored)
			}
		})
	})
	working.Go(func() { _ = x.Run(ctx) })
	working.Wait()
	return store.Close()
}

type child struct {
	kill func()
	said *bufio.Reader
}

// await waits for the process to print a line, which must be what.
func (c child) await(t *testing.T, what string) {
	t.Helper()
	if line, err := c.said.ReadString('\n'); line != what+"\n" {
		t.Fatalf("child said %q, %v, want %q", line, err, what)
	}
}

// startChild executes a plan in a child process and returns once its store is open.
func startChild(t *testing.T, p plan) child {
	t.Helper()
	text := must.Get(json.Marshal(p))(t)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childPlan+"="+string(text))
	var complaint bytes.Buffer
	command.Stderr = &complaint
	input := must.Get(command.StdinPipe())(t)
	output := must.Get(command.StdoutPipe())(t)
	must.Do(t, command.Start())
	c := child{said: bufio.NewReader(output), kill: sync.OnceFunc(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = input.Close()
		if complaint.Len() > 0 {
			t.Errorf("child said %s", complaint.String())
		}
	})}
	t.Cleanup(c.kill)
	c.await(t, isOpen)
	return c
}

// answersOf returns the store's answers about every order, transaction and taker of the clockwork chains.
func answersOf(t *testing.T, store *store.DB, chains map[chain.ID]*clockwork) string {
	t.Helper()
	var text strings.Builder
	say := func(what any) {
		raw := must.Get(json.Marshal(what))(t)
		text.Write(append(raw, '\n'))
	}
	for number := range chains[1].last + 1 {
		hash := chains[1].hash("tx", number)
		created := must.Get(ledger.Ledger{DB: store}.OrdersIn(t.Context(), chain.NewTxHash(hash[:])))(t)
		for _, events := range created {
			o, _ := order.Fold(events)
			say(o)
		}
	}
	for _, each := range clockworkTakers {
		certain, unconfirmed, err := ledger.Ledger{DB: store}.Locks(t.Context(), each)
		if err != nil {
			t.Fatal(err)
		}
		say(order.Locked(certain))
		say(order.Locked(unconfirmed))
	}
	return text.String()
}
