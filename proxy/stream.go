package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// Limits of streams.
const (
	defaultStreams           = 2048
	defaultStreamsPerAddress = 64
	StreamHeartbeat          = 15 * time.Second // proxies close idle connections
	streamWrite              = 10 * time.Second // to write one event
	longestStream            = 30 * time.Minute // clients reconnect by themselves, and others get a turn
)

const streamType = "text/event-stream"

func isStream(header http.Header) bool {
	kind := header["Content-Type"]
	return len(kind) > 0 && kind[0] == streamType
}

// streams limits the clients that follow an answer concurrently, in total and per address, and can end them all.
type streams struct {
	most, share int
	ending      context.Context // ends when all streams shall end
	end         context.CancelFunc

	mu   sync.Mutex
	open int
	from map[netip.Prefix]int // open streams by the client's address
}

// enter admits a client's stream if the limits permit it; leave releases it.
func (s *streams) enter(client netip.Prefix) (entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.most || s.from[client] >= s.share {
		return false
	}
	s.open++
	s.from[client]++
	return true
}

func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

func (s *streams) leave(client netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.from[client]--; s.from[client] == 0 {
		delete(s.from, client)
	}
}

// WantsStream reports whether a request comes from an EventSource.
func WantsStream(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), streamType)
}

// ServeStream calls send to answer a request with events if the limits permit another stream. ctx ends with the
// request, when the server stops, and after longestStream. A client over the limits gets a problem instead.
func (s *Server) ServeStream(c *gin.Context, d Dialect, send func(ctx context.Context, c *gin.Context)) {
	ctx, leave := s.enterStream(c, d)
	if leave == nil {
		return
	}
	defer leave()
	send(ctx, c)
}

// enterStream admits a stream until leave is called; if leave is nil, the client was rejected with a problem.
func (s *Server) enterStream(c *gin.Context, d Dialect) (ctx context.Context, leave func()) {
	client := s.quotas.Address(c.Request)
	if !s.streams.enter(client) {
		s.fail(c, d, tooManyStreams.Because(""))
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(s.WithPayer(c, CheapCost), longestStream) // a search costs as much as a request
	forget := context.AfterFunc(s.streams.ending, cancel)
	return ctx, func() { forget(); cancel(); s.streams.leave(client) }
}

// A Follower sends events until ctx ends.
type Follower func(ctx context.Context, to *Events)

// follow answers a request with the events of a follower, which runs after the middleware has returned: a mostly idle
// stream then holds neither its stack nor the context of a request.
func (s *Server) follow(c *gin.Context, d Dialect, begin func(context.Context) (Follower, error)) {
	ctx, leave := s.enterStream(c, d)
	if leave == nil {
		return
	}
	send, err := begin(s.WithPayer(c, SearchCost))
	if err != nil {
		leave()
		s.Fail(c, d, err)
		return
	}
	to := OpenEvents(c)
	*c.Request.Context().Value(restKey{}).(*func()) = func() {
		defer leave()
		send(ctx, to)
	}
}

// restKey is the key of a stream's continuation in the context of its request.
type restKey struct{}

// Events is a response on which one event follows another.
type Events struct {
	writer     http.ResponseWriter
	controller *http.ResponseController
	Broken     bool // the client can no longer be reached
}

// OpenEvents begins a response of events.
func OpenEvents(c *gin.Context) *Events {
	header := c.Writer.Header()
	header.Set("Content-Type", streamType)
	header.Set("Cache-Control", "no-store, no-transform") // proxies that compress would buffer events
	header.Set("X-Accel-Buffering", "no")                 // as nginx would
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	w := c.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap() // outlives the context
	e := &Events{writer: w, controller: http.NewResponseController(w)}
	e.Send([]byte("retry: 2000\n\n"))
	return e
}

// Send sends the texts of events together, and sets Broken if it fails.
func (e *Events) Send(texts ...[]byte) {
	err := e.controller.SetWriteDeadline(time.Now().Add(streamWrite))
	if err != nil && !errors.Is(err, http.ErrNotSupported) { // writers without deadlines are not connections
		e.Broken = true
	}
	for _, text := range texts {
		if _, err := e.writer.Write(text); err != nil {
			e.Broken = true
			return
		}
	}
	if err := e.controller.Flush(); err != nil {
		e.Broken = true
	}
}

// SendJSON sends an event with data encoded as JSON.
func (e *Events) SendJSON(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic("proxy: data of an event that JSON cannot hold: " + err.Error())
	}
	e.Send([]byte("event: "+name+"\ndata: "), text, []byte("\n\n"))
}
