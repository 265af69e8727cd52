package pages

import (
	"time"

	"crossgate/chain"
)

// Gap is what was not read of a chain, so that an answer does not have it. Any of its members may be the reason.
type Gap struct {
	Chain       chain.ID
	IsUnread    bool          // nothing was read; nothing below is known
	From        uint64        // first block that was read; 0: nothing is missing before it
	Since       time.Time     // its time
	Lag         time.Duration // since the newest block that was read was the chain's; 0: none above the threshold
	Quarantined int           // blocks that no endpoint can give
}

// lacksCreation reports whether a creation that was not seen may be missing because of the gap.
func (g Gap) lacksCreation() bool { return g.IsUnread || g.From > 0 }
