package jsonrpc

import (
	"errors"
	"strings"
	"time"
)

// leastPause is how far apart two refusals are at least of which the second came in spite of a pause.
const leastPause = time.Second

// learnCrowd learns from a batch that was answered call by call. Where calls of the same methods were answered and
// refused for their rate, the endpoint counts calls, and the batch held more than it takes at once.
func (c *Capabilities) learnCrowd(calls, answered int, isCrowd bool) {
	switch {
	case !isCrowd && answered > 0:
		c.keptCrowd(answered)
	case isCrowd && answered > 0:
		c.batch.Refused(uint64(calls))
	case isCrowd:
		c.refusedCrowd(calls, false)
	}
}

// refusedCrowd learns that so many calls at once came too soon, all of them. It is a matter of how many they are where
// that is said, and where none was answered since the last time, before a pause: a batch of more calls than an endpoint
// takes a second is refused however long the pause was.
func (c *Capabilities) refusedCrowd(calls int, isOfBatch bool) {
	if calls == 1 {
		return
	}
	c.mu.Lock()
	now, last := time.Now(), c.crowded
	isAgain := !last.IsZero() && now.Sub(last) >= leastPause
	if last.IsZero() || isAgain {
		c.crowded = now
	}
	c.mu.Unlock()
	if isAgain || isOfBatch {
		c.batch.Refused(uint64(calls))
	}
}

// keptCrowd learns that so many calls at once were answered.
func (c *Capabilities) keptCrowd(calls int) {
	c.mu.Lock()
	c.crowded = time.Time{}
	c.mu.Unlock()
	if calls > 1 {
		c.batch.Accepted(uint64(calls))
	}
}

// isAboutBatch reports whether an endpoint said that the batch was too much at once.
func isAboutBatch(err error) bool {
	said, is := errors.AsType[*Error](err)
	return is && strings.Contains(said.text(), "batch")
}
