package query

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"crossgate/chain"
)

func TestMain(m *testing.M) {
	if plan, isChild := os.LookupEnv(childPlan); isChild {
		if err := beChild(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	_ = flag.Set("rapid.checks", "25") // unless the command line says otherwise
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if shared.server != nil {
			if err := shared.server.Remove(); err != nil {
				fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// compare lets cmp compare the values of package chain, whose fields are their own business.
var compare = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.TxHash) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a.Cmp(b) == 0 }),
}
