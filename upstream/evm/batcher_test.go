package evm_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
)

// nameOf returns the calls for a token's name and decimals.
func nameOf(token chain.Address) []chain.ContractCall {
	return []chain.ContractCall{{To: token, Data: []byte{0x06, 0xfd, 0xde, 0x03}}, {To: token, Data: []byte{0x31, 0x3c, 0xe5, 0x67}}}
}

// Concurrent calls of several callers go out in one round trip, and each caller gets its own answers.
func TestContractCallsGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{chainID: testChain.Native, head: 1000, storage: func(to, data string, _ uint64) string {
			if to == testChain.Contracts.Multicall.String() {
				return aggregate3(t, data, tokenAnswers)
			}
			return "!asked alone"
		}}
		c := n.serve(t, testChain)
		ask := func(ctx context.Context, token chain.Address, decimals byte, symbol string) {
			answers, err := c.CallAll(ctx, nameOf(token))
			if err != nil || len(answers) != 2 || !bytes.Contains(answers[0], []byte(symbol)) || answers[1][31] != decimals {
				t.Errorf("CallAll() of %s = %x, %v, want its name and %d decimals", token, answers, err, decimals)
			}
		}
		impatient, leave := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := c.CallAll(impatient, nameOf(plainToken)); !errors.Is(err, context.Canceled) {
				t.Errorf("CallAll() of who left = %v, want his leaving", err)
			}
		})
		asking.Go(func() { ask(t.Context(), plainToken, 6, "USD Coin") })
		asking.Go(func() { ask(t.Context(), oldToken, 18, "Maker") })
		synctest.Wait() // until all wait
		leave()
		asking.Wait()
		if trips := n.trips(); trips != 1 {
			t.Errorf("three questions at once took %d round trips, want 1", trips)
		}

		asking.Go(func() { ask(t.Context(), plainToken, 6, "USD Coin") })
		<-time.After(time.Second)
		asking.Go(func() { ask(t.Context(), oldToken, 18, "Maker") })
		asking.Wait()
		if trips := n.trips(); trips != 2 {
			t.Errorf("two questions a second apart took %d round trips, want 2", trips)
		}
	})
}
