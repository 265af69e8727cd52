package cache

import (
	"context"
	"strconv"
	"time"
)

// Spend takes a price off an account that all replicas share, if it holds that much. An account holds most when it is
// whole and refills as time passes; all of it is time. known is what the caller knows it to lack, for when the server
// does not. It returns what the account lacks now and, when that is too much, how long to wait. An error says that the
// server was away or slow.
func (s *Shared) Spend(ctx context.Context, account Key, price, most, known time.Duration) (lack, wait time.Duration, err error) {
	microseconds := func(span time.Duration) string { return strconv.FormatInt(span.Microseconds(), 10) }
	reply, err := s.call(ctx, s.quotas, spendScript, []string{quotaName(account)}, microseconds(price), microseconds(most), microseconds(known))
	if err != nil {
		return 0, 0, err
	}
	var spans [2]time.Duration
	if len(reply) != len(spans) {
		return 0, 0, errMalformed
	}
	for i := range spans {
		n, err := reply[i].AsInt64()
		if err != nil {
			return 0, 0, errMalformed
		}
		spans[i] = time.Duration(n) * time.Microsecond
	}
	return spans[0], spans[1], nil
}
