package proxy

import (
	"net/http"
	"strconv"
	"time"

	"crossgate/cache"
)

// account is what a request did to its client's quota.
type account struct {
	policy    string
	quota     Quota
	remaining int
	whole     time.Duration // until the quota is whole again
	retry     time.Duration // until there is enough for the request; zero: it is paid for
}

// charge takes cost off a client's quota, if there is that much: off the account that replicas share, and off this one's
// own while that cannot be asked.
func (l *limiter) charge(r *http.Request, cost int, now time.Time) (a account, limited bool) {
	who, policy, quota := l.client(r)
	if quota.Units <= 0 {
		return account{}, false
	}
	unit := quota.Window / time.Duration(quota.Units)
	price := unit * time.Duration(min(cost, quota.Units))
	a = account{policy: policy, quota: quota}
	isPaid := false
	if l.shared != nil {
		a.whole, a.retry, isPaid = l.chargeAll(r, who, policy, price, quota.Window, now)
	}
	if !isPaid {
		a.whole, a.retry = l.chargeHere(who, price, quota.Window, now)
	}
	a.remaining = int((quota.Window - a.whole) / unit)
	return a, true
}

// chargeHere takes price off the account that this replica has of a client.
func (l *limiter) chargeHere(who client, price, window time.Duration, now time.Time) (lack, retry time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lack = l.lack(who, now)
	if lack+price > window {
		return lack, lack + price - window
	}
	l.remember(who, now.Add(lack+price))
	return lack + price, 0
}

// chargeAll takes price off the account that all replicas have of a client. This one remembers it: who has used up a
// quota is declined without asking, and nobody begins anew when the others cannot be asked.
func (l *limiter) chargeAll(r *http.Request, who client, policy string, price, window time.Duration, now time.Time) (lack, retry time.Duration, done bool) {
	l.mu.Lock()
	known := l.lack(who, now)
	l.mu.Unlock()
	if known+price > window {
		return known, known + price - window, true
	}
	key := cache.KeyOf("client", []byte(policy), []byte(strconv.Itoa(who.key)), []byte(who.address.String()))
	lack, retry, err := l.shared.Spend(r.Context(), key, price, window, known)
	if err != nil {
		return 0, 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if lack > l.lack(who, now) {
		l.remember(who, now.Add(lack))
	}
	return lack, retry, true
}

// lack is what a client's account lacks as far as this replica knows.
func (l *limiter) lack(who client, now time.Time) time.Duration {
	whole, known := l.young[who]
	if !known {
		whole = l.old[who]
	}
	return max(whole.Sub(now), 0)
}

// remember notes when a client's account is whole again.
func (l *limiter) remember(who client, whole time.Time) {
	if l.young == nil || len(l.young) >= mostClients {
		l.young, l.old = make(map[client]time.Time), l.young
	}
	l.young[who] = whole
}
