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
	StreamHeartbeat          = 15 * time.Second // proxies in between close connections on which nothing comes
	streamWrite              = 10 * time.Second // for one event to leave
	longestStream            = 30 * time.Minute // clients come again by themselves, and others have their turn
)

const streamType = "text/event-stream"

func isStream(header http.Header) bool {
	kind := header["Content-Type"]
	return len(kind) > 0 && kind[0] == streamType
}

// streams bounds how many clients follow an answer at a time, in all and from one address, and ends all of them.
type streams struct {
	most, share int
	ending      context.Context // ends when all are to end
	end         context.CancelFunc

	mu   sync.Mutex
	open int
	from map[netip.Prefix]int // of them, by the client's address
}

// enter takes a place for a client; leave gives it back.
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

// WantsStream reports whether a request is that of an EventSource.
func WantsStream(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), streamType)
}

// ServeStream has send answer a request by events while its client has a place among the streams. ctx ends with the
// request, when the server stops, and after longestStream. A client who finds no place gets a problem instead.
func (s *Server) ServeStream(c *gin.Context, d Dialect, send func(ctx context.Context, c *gin.Context)) {
	ctx, leave := s.enterStream(c, d)
	if leave == nil {
		return
	}
	defer leave()
	send(ctx, c)
}

// enterStream takes a place for ServeStream until leave; nil: there is none, and the client has its problem.
func (s *Server) enterStream(c *gin.Context, d Dialect) (ctx context.Context, leave func()) {
	client := s.quotas.Address(c.Request)
	if !s.streams.enter(client) {
		s.fail(c, d, tooManyStreams.Because(""))
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(s.WithPayer(c, CheapCost), longestStream) // a search costs as that of a request
	forget := context.AfterFunc(s.streams.ending, cancel)
	return ctx, func() { forget(); cancel(); s.streams.leave(client) }
}

// A Follower sends events until ctx ends.
type Follower func(ctx context.Context, to *Events)

// follow answers a request by the events of a follower, which runs when middleware has returned: a stream that rests
// for long keeps neither its stack nor the context of a request.
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
	Broken     bool // the client cannot be reached any more
}

// OpenEvents begins one.
func OpenEvents(c *gin.Context) *Events {
	header := c.Writer.Header()
	header.Set("Content-Type", streamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would collect events before it passes them on
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	w := c.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap() // which outlives the context
	e := &Events{writer: w, controller: http.NewResponseController(w)}
	e.Send([]byte("retry: 2000\n\n"))
	return e
}

// Send sends the texts of events together. Broken says whether it could.
func (e *Events) Send(texts ...[]byte) {
	err := e.controller.SetWriteDeadline(time.Now().Add(streamWrite))
	if err != nil && !errors.Is(err, http.ErrNotSupported) { // writers without limits are not connections
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

// SendJSON sends an event whose data JSON can hold.
func (e *Events) SendJSON(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic("proxy: data of an event that JSON cannot hold: " + err.Error())
	}
	e.Send([]byte("event: "+name+"\ndata: "), text, []byte("\n\n"))
}
