package follow

import (
	"context"

	"crossgate/order"
)

// doubt is about blocks that were read and are gone. Whoever has it guards it.
type doubt struct {
	Over  chan struct{} // closed when they are withdrawn, nil when none is gone
	until uint64        // it lasts until blocks up to here are read again
}

// begin reports whether there was no doubt before.
func (d *doubt) begin(until uint64) (isNew bool) {
	isNew = d.Over == nil
	if isNew {
		d.Over = make(chan struct{})
	}
	d.until = max(d.until, until)
	return isNew
}

func (d *doubt) end() {
	if d.Over != nil {
		close(d.Over)
		d.Over, d.until = nil, 0
	}
}

// readHead asks for the newest block. When it cannot follow the one before, or precede it, the chain is in doubt from
// here on. Whether one far ahead descends from the blocks which were read is not known before they were compared with
// its branch; settle does that.
func (f *Follower) readHead(ctx context.Context) (order.Head, error) {
	head, err := f.Source.Head(ctx)
	if err != nil {
		return order.Head{}, err
	}
	if f.reported(head.Latest) {
		f.DoubtSince(head, 0)
	}
	return head, nil
}

// DoubtSince takes note of a head that does not descend from the blocks which were read. The doubt lasts until those up
// to a number are read again. The observer hears of it after the chain is in doubt and before anybody sees the head:
// what is asked for from then on is read from the chain, or waits.
func (f *Follower) DoubtSince(head order.Head, until uint64) {
	if f.beginDoubt(until) || until == 0 {
		f.Observer.BranchChanged(f.ID)
	}
	f.contradicted(head)
}
