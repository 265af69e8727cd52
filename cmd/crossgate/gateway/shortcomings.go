package gateway

import (
	"fmt"
	"strings"
	"time"

	"crossgate/chain"
)

// slow is from what time of an answer on an endpoint is called so: an order takes some four of them one after another.
const slow = 500 * time.Millisecond

// shortcomings says in words what an endpoint was not seen to do that others of its family do.
func (p *prober) shortcomings() (said []string) {
	found := &p.found
	say := func(is bool, form string, values ...any) {
		if is {
			said = append(said, fmt.Sprintf(form, values...))
		}
	}
	say(found.LogSpan > 0 && isShallow(found.LogDepth, triedDepths, p.head), "pruned: logs are had from %d blocks ago at most", found.LogDepth)
	say(isShallow(found.BlockDepth, triedDepths, p.head), "pruned: blocks are had from %d blocks ago at most", found.BlockDepth)
	say(found.LogTimes != nil && !*found.LogTimes, "does not tell the times of logs: a backfill reads them from blocks")
	say(found.Batch == 1, "takes no batches")
	say(found.Batch > 1 && found.Batch < triedBatches[0], "takes batches of %d calls, not of %d", found.Batch, triedBatches[0])
	if p.chain.Family != chain.EVM {
		return said // the rest is what no node of java-tron does
	}
	say(isShallow(found.StateDepth, triedStates, p.head), "pruned: state is had from %d blocks ago at most", found.StateDepth)
	say(len(found.UnknownTags) > 0, "knows no block that is %s", strings.Join(found.UnknownTags, " or "))
	return said
}
