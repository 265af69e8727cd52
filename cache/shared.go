package cache

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"go.opentelemetry.io/otel/metric"
)

// Defaults of SharedOptions.
const (
	defaultPatience = 20 * time.Millisecond
	defaultSilence  = 5 * time.Second
	defaultLease    = 1500 * time.Millisecond
)

const (
	connectLimit = time.Second
	// beat is how often the server is asked for a sign of life.
	beat = time.Second
	// Between attempts to connect.
	shortestPause, longestPause = 100 * time.Millisecond, 2 * time.Second
)

// SharedOptions describe a shared level.
type SharedOptions struct {
	URL string // redis://user:password@host:port/database; rediss:// for TLS, unix:// for a socket
	// Certificates are for TLS. The zero value trusts whom the system trusts.
	Certificates Certificates
	Patience     time.Duration // for one call; 20 ms when zero
	// Silence of the server after which it counts as lost; 5 s when zero. A server that is slow says everything in the
	// end, so this is about networks that lose connections without a word. What is kept is asked for anew after a loss.
	Silence time.Duration
	// Lease is for how long others wait for a replica that died while it loaded; 1.5 s when zero.
	Lease  time.Duration
	Logger *slog.Logger // hears when the server is lost and when it is back; nil: nobody does
}

// Shared is a level behind the caches of several replicas: a Valkey or Redis server. It keeps values, tells every
// replica of purges, has one of them load what all of them want, and keeps accounts of clients. While the server is
// away or slow everything goes on without it. One Cache at most is in front of it.
type Shared struct {
	option       rueidis.ClientOption
	certificates Certificates
	silence      time.Duration
	lease        time.Duration
	replica      string
	log          *slog.Logger
	link         atomic.Pointer[link] // nil while there is no connection
	values       *guard
	quotas       *guard
	duration     metric.Float64Histogram
	outbox       outbox
	waits        waits
	front        front

	mu      sync.Mutex
	trouble string // the latest
}

// front is the cache before a shared level, which hears of the purges of others.
type front struct {
	purge  func(Purge, ...Key)
	missed func() // purges may not have been heard
}

// link is a connection on which purges are heard.
type link struct {
	client rueidis.Client
	lost   chan struct{} // closed when it is no longer
}

// NewShared returns the shared level at a URL. It connects in Run.
func NewShared(o SharedOptions) (*Shared, error) {
	option, err := parseAddress(o.URL)
	if err != nil {
		return nil, err
	}
	if _, err := o.Certificates.secured(option); err != nil {
		return nil, fmt.Errorf("shared cache: %w", err)
	}
	option.ForceSingleClient = true
	option.DisableCache = true
	option.DisableRetry = true
	option.AlwaysPipelining = true // otherwise a call that is out of time takes the connection with it
	option.PipelineMultiplex = -1  // one connection
	option.Dialer.Timeout = connectLimit
	silence := cmp.Or(o.Silence, defaultSilence)
	option.ConnWriteTimeout = silence
	const buffer = 64 << 10
	option.ReadBufferEachConn, option.WriteBufferEachConn = buffer, buffer
	patience := cmp.Or(o.Patience, defaultPatience)
	s := &Shared{
		option:       option,
		certificates: o.Certificates,
		silence:      silence,
		lease:        cmp.Or(o.Lease, defaultLease),
		replica:      token(),
		log:          cmp.Or(o.Logger, slog.New(slog.DiscardHandler)).With("server", option.InitAddress[0]),
		values:       newGuard(patience),
		// Accounts are asked for by every request, also by those that have an answer ready.
		quotas:  newGuard(patience / 4),
		outbox:  outbox{filled: make(chan struct{}, 1)},
		trouble: "not tried yet",
	}
	s.duration, err = newDuration()
	return s, err
}

// parseAddress keeps the reason of an error to itself: it quotes the address, which may hold a password.
func parseAddress(address string) (rueidis.ClientOption, error) {
	wrong := errors.New("shared cache: want an address like redis://user:password@host:6379/0, where signs of the password " +
		"other than letters and digits are percent-encoded")
	option, err := rueidis.ParseURL(address)
	if err != nil {
		return option, wrong
	}
	// A / ? or # in the password ends the host early, and the first part of the password looks like the port.
	read, err := url.Parse(address)
	if err != nil || read.Scheme != "unix" && read.User == nil && strings.Contains(address, "@") {
		return option, wrong
	}
	return option, nil
}

// token is 128 random bits as text: the name of a replica or of a lease.
func token() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// Names of what is on the server. The braces keep it on one node of a cluster.
const (
	namePrefix  = "{crossgate:" + wireVersion + "}:"
	stateName   = namePrefix + "state"
	markPrefix  = namePrefix + "mark:"
	channelName = namePrefix + "notices"
)

func valueName(key Key) string { return namePrefix + "value:" + key.text() }
func leaseName(key Key) string { return namePrefix + "lease:" + key.text() }
func quotaName(key Key) string { return namePrefix + "quota:" + key.text() }

// Run keeps a connection until ctx ends.
func (s *Shared) Run(ctx context.Context) error {
	stop, err := s.watch()
	if err != nil {
		return fmt.Errorf("instruments: %w", err)
	}
	pause := shortestPause
	for {
		wasUp, err := s.session(ctx)
		if ctx.Err() != nil {
			return stop()
		}
		if wasUp {
			pause = shortestPause
			s.log.WarnContext(ctx, "the shared cache is lost; answers are kept here alone", "error", err)
		} else if s.hear(err) {
			s.log.WarnContext(ctx, "the shared cache cannot be reached", "error", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longestPause)
	}
}

// hear remembers the latest trouble and reports whether it is news.
func (s *Shared) hear(err error) (isNews bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNews = s.trouble != err.Error()
	s.trouble = err.Error()
	return isNews
}

// session is one connection from its beginning to its loss.
func (s *Shared) session(ctx context.Context) (wasUp bool, err error) {
	option, err := s.certificates.secured(s.option)
	if err != nil {
		return false, err
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		return false, err
	}
	defer client.Close()
	listening, release := client.Dedicate()
	defer release()
	lost := listening.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) { s.notice(m.Message) }})
	if err := s.join(ctx, client, listening); err != nil {
		return false, err
	}
	up := &link{client: client, lost: make(chan struct{})}
	// What others purged before is not known.
	s.missed()
	s.mu.Lock()
	s.trouble = ""
	s.mu.Unlock()
	s.link.Store(up)
	s.log.InfoContext(ctx, "the shared cache is there")
	err = s.listen(ctx, client, lost)
	s.link.Store(nil)
	s.hear(err)
	close(up.lost)
	s.missed()
	return true, err
}

func (s *Shared) missed() {
	if s.front.missed != nil {
		s.front.missed()
	}
}

var runID = regexp.MustCompile(`(?m)^run_id:(\w+)`)

// join makes the connection hear of purges and settles what the server has.
func (s *Shared) join(ctx context.Context, client rueidis.Client, listening rueidis.DedicatedClient) error {
	ctx, cancel := context.WithTimeout(ctx, s.silence)
	defer cancel()
	if err := listening.Do(ctx, listening.B().Subscribe().Channel(channelName).Build()).Error(); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	info, err := client.Do(ctx, client.B().Info().Section("server").Build()).ToString()
	if err != nil {
		return fmt.Errorf("info: %w", err)
	}
	run := runID.FindStringSubmatch(info)
	if run == nil {
		return errors.New("info: the server does not say which run it is")
	}
	if err := settleScript.Exec(ctx, client, []string{stateName}, run[1:]).Error(); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return s.deliver(ctx, client)
}

// listen tells the server of purges, and returns when it gives no sign of life.
func (s *Shared) listen(ctx context.Context, client rueidis.Client, lost <-chan error) error {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-lost:
			return cmp.Or(err, errAway)
		case <-s.outbox.filled:
			if err := s.deliver(ctx, client); err != nil {
				return err
			}
		case <-ticker.C:
			if err := s.ping(ctx, client); err != nil {
				return err
			}
		}
	}
}

func (s *Shared) ping(ctx context.Context, client rueidis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, s.silence)
	defer cancel()
	if err := client.Do(ctx, client.B().Ping().Build()).Error(); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// notice takes what another replica tells.
func (s *Shared) notice(text string) {
	n, ok := parseNotice(text)
	switch {
	case !ok || n.from == s.replica:
	case n.done:
		s.waits.end(n.keys[0])
	case s.front.purge != nil:
		s.front.purge(n.how, n.keys...)
	}
}

func (s *Shared) isUp() bool { return s.link.Load() != nil }

// Standing tells operators how the shared level is.
func (s *Shared) Standing() (state string, ok bool) {
	s.mu.Lock()
	trouble := s.trouble
	s.mu.Unlock()
	switch {
	case !s.isUp():
		return "not connected to " + s.option.InitAddress[0] + ": " + trouble, false
	case s.values.isOpen():
		return "connected, but slow: left alone for a moment", false
	case trouble != "":
		return "connected, but refused a call: " + trouble, false
	}
	return "connected", true
}
