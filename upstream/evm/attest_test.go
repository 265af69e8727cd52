package evm_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// headersOf serves the headers of a recording, each passed through change, and nothing else.
func headersOf(r *recording, change func(header string) string) http.Handler {
	return rpctest.Handler(func(c rpctest.Call) string {
		switch c.Method {
		case "eth_chainId":
			return fmt.Sprintf(`"result":"0x%x"`, r.ChainID)
		case "eth_getBlockByHash":
			return `"result":` + change(r.at(r.byHash[unquote(c.Params[0])]))
		}
		return `"result":null`
	})
}

// TestWhoContradictsAHashIsNamed: if a header does not match its hash, the time is taken from one that does. A header
// that cannot be verified, but whose used fields are right, is not a lie.
func TestWhoContradictsAHashIsNamed(t *testing.T) {
	r := readRecordings(t)[0]
	block := r.Blocks[3]
	for name, test := range map[string]struct {
		change func(header string) string
		wrong  []string
	}{
		"another time":  {func(header string) string { return strings.ReplaceAll(header, block.Timestamp, "0x7b") }, []string{"first"}},
		"a member less": {func(header string) string { return strings.ReplaceAll(header, `"stateRoot"`, `"unknown"`) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			now, honest := measured.Start(t), func(header string) string { return header }
			pool := upstream.NewPool("chain", endpointOf(t, "first", headersOf(r, test.change)), endpointOf(t, "second", headersOf(r, honest)))
			c := evm.New(r.describe(), jsonrpc.New(pool))
			var hash chain.Hash
			must.Do(t, hash.UnmarshalText([]byte(block.Hash)))
			read, err := c.Attest(t.Context(), []order.Event{{At: order.At{Tx: chain.NewTxHash(hash[:]), Block: 3, BlockHash: hash, Time: 123}}})
			if told := failuresOf("second", now()); told["bad answer"] > 0 {
				t.Errorf("counted %v against an endpoint without the transaction", told)
			}
			if err != nil || !slices.Equal(read.Wrong, test.wrong) || read.Events[0].At.Time != parseQuantity(block.Timestamp) {
				t.Errorf("Attest = %+v, %v, want time %s and %v named", read, err, block.Timestamp, test.wrong)
			}
		})
	}
}
