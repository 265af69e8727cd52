package main

import (
	"bytes"
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
)

func TestReportNamesWhatIsWrong(t *testing.T) {
	chains := chain.NewRegistry(chain.Chain{ID: 1, Name: "Ethereum"})
	at := order.At{Chain: 1, Block: 17, Tx: chain.NewTxHash(make([]byte, 32))}
	found := audit.Audit{
		Chain: 1, To: 90, Orders: 3, Transactions: 4,
		Differences: []audit.Difference{{
			Order:        order.ID{31: 1},
			Missing:      []order.Event{{At: at, Fact: order.Fulfilled{}}},
			False:        []order.Event{{At: at, Fact: order.Created{}}},
			Contradicted: true, State: order.StateCreated,
		}},
		Unchecked: []audit.Unchecked{{Order: order.ID{31: 2}, Err: errors.New("no archive")}},
	}
	const zeros = "000000000000000000000000000000000000000000000000000000000000"
	const details = `  0x` + zeros + `0001
    missing: Fulfilled in block 17, transaction 0x` + zeros + `0000
    false:   Created in block 17, transaction 0x` + zeros + `0000
    the contract stores Created, and no event accounts for it
  0x` + zeros + `0002: not compared: no archive
`
	for name, test := range map[string]struct {
		report report
		want   string
		err    error
	}{
		"sound": {
			newAuditReport([]audit.Audit{{Chain: 1, To: 90, Orders: 3, Transactions: 4}}, chains),
			"Ethereum (1), blocks 0 to 90: 3 orders and 4 transactions compared, 0 orders differ, 0 not compared\n", nil,
		},
		"different": {
			newAuditReport([]audit.Audit{found}, chains),
			"Ethereum (1), blocks 0 to 90: 3 orders and 4 transactions compared, 1 orders differ, 1 not compared\n" + details, errDiffers,
		},
		"ended early": {
			newRepairReport([]audit.Repair{{Chain: 1, Blocks: 2, Added: 1, Wrong: []string{"liar"}, Err: errors.New("no answer")}}, chains),
			"Ethereum (1), blocks 0 to 0: 2 blocks read again, 1 events added, 0 removed, 0 orders corrected; 0 orders differ, 0 not compared\n" +
				"  wrong endpoint: liar\n  ended early: no answer\n", errDiffers,
		},
	} {
		var out bytes.Buffer
		if err := test.report.write(&out, false); !errors.Is(err, test.err) || out.String() != test.want {
			t.Errorf("%s: %v, printed\n%s\nwant\n%s", name, err, out.String(), test.want)
		}
	}
}
