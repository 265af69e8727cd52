package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/ledger"
)

func TestStatusTellsWhatWasReadAndWhatWasLeftOut(t *testing.T) {
	status := []audit.Status{
		{
			Chain: 1, Known: true, Proven: 880, Orders: 12, Locked: 3,
			Lag: order.Lag{Head: 902, Indexed: 900, IndexedTime: 1_784_950_000},
		},
		{
			Chain: 137, Known: true, From: order.BlockTime{Number: 70, Time: 1_784_900_000}, Err: errors.New("no route to host"),
			Lag:         order.Lag{Indexed: 700, IndexedTime: 1_784_949_000},
			Quarantined: []ledger.QuarantinedBlock{{Number: 321, Reason: "transaction without its receipt", Since: 1_784_949_100}},
		},
		{Chain: 8453, Lag: order.Lag{Head: 5}},
	}
	var out bytes.Buffer
	must.Do(t, errors.Join(
		writeStatus(&out, chain.Documented(), status), writeQuarantined(&out, chain.Documented(), status),
	))
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"chain head indexed from since (UTC) to as of (UTC) lag proven to quarantined orders locked",
		"Ethereum (1) 902 0 all 900 2026-07-25 03:26:40 2 blocks 880 0 12 3",
		"Polygon (137) unreachable 70 2026-07-24 13:33:20 700 2026-07-25 03:10:00 ? - 1 0 0",
		"Base (8453) 5 0 - 0 - not read yet - 0 0 0",
		"quarantined: Polygon (137) block 321 since 2026-07-25 03:11:40 UTC transaction without its receipt",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("index status wrote\n%s\nwant\n%s", out.String(), strings.Join(want, "\n"))
	}
}
