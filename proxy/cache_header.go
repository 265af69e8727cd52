package proxy

import (
	"strconv"
	"strings"
	"time"

	"crossgate/cache"
)

// Cache-Status values (RFC 9211).
var (
	statusStale        = []string{"crossgate; hit; detail=stale-while-revalidate"}
	statusStaleIfError = []string{"crossgate; fwd=stale; detail=stale-if-error"}
	statusPaused       = []string{"crossgate; hit; detail=stale-if-error"}
	statusMiss         = []string{"crossgate; fwd=miss"}
	statusStored       = []string{"crossgate; fwd=miss; stored"}
	statusShared       = []string{"crossgate; fwd=miss; collapsed"}
)

func ageOf(age time.Duration) []string { return []string{strconv.Itoa(int(max(age, 0) / time.Second))} }

func cacheStatus(found *cache.Result[answer]) []string {
	switch found.Outcome {
	case cache.Hit:
		return []string{"crossgate; hit; ttl=" + strconv.Itoa(int((found.Life.Fresh-found.Age)/time.Second))}
	case cache.Stale:
		return statusStale
	case cache.StaleIfError:
		if found.Failure == nil {
			return statusPaused
		}
		return statusStaleIfError
	case cache.Miss:
	}
	switch {
	case found.Shared:
		return statusShared
	case found.Life.Fresh > 0:
		return statusStored
	}
	return statusMiss
}

// cacheControl lets caches on the way to the client keep an answer as long as this cache does.
func cacheControl(life cache.Life) []string {
	if life.Fresh <= 0 {
		return noStore
	}
	var text strings.Builder
	text.WriteString("public")
	for _, each := range []struct {
		directive string
		span      time.Duration
	}{{"max-age", life.Fresh}, {"stale-while-revalidate", life.Stale}, {"stale-if-error", life.IfError}} {
		if each.span > 0 {
			text.WriteString(", " + each.directive + "=" + strconv.Itoa(int(each.span/time.Second)))
		}
	}
	return []string{text.String()}
}

// Lives of answers about orders. A final state that no reorg can undo never changes; other states may change with the
// next block, and unknown orders are polled. While chains are unreachable, an answer a few minutes old, with its Age,
// is better than none.
var (
	NoLife      = cache.Life{}
	UnknownLife = cache.Life{Fresh: time.Second}
	MovingLife  = cache.Life{Fresh: 2 * time.Second, Stale: 2 * time.Second, IfError: 5 * time.Minute}
	SettledLife = cache.Life{Fresh: time.Hour, Stale: time.Hour, IfError: 22 * time.Hour}
)
