package proxy

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/proxy/shadow"
)

// Internals of the server for tests of whole sites.
const (
	BodyBytes        = bodyBytes
	ChainsUnheard    = chainsUnheard
	DefaultSwapLimit = defaultSwapLimit
	IndexBasis       = indexBasis
	LongestURL       = longestURL
	Patience         = patience
	ReadLimit        = readLimit
	SlowRequest      = slowRequest
	StreamType       = streamType
)

var (
	ClientLeft  = clientLeft
	ErrDraining = errDraining
	IsRetryable = isRetryable
)

func (s *Server) Drain(draining bool)         { s.draining.Store(draining) }
func (s *Server) Log(to *slog.Logger)         { s.log = to }
func (s *Server) Wait(patience time.Duration) { s.patience = patience }
func (s *Server) Shadowed() *shadow.Shadow    { return s.shadow }
func (s *Server) Engine() *gin.Engine         { return s.router.engine }
func (s *Server) Middleware() []gin.HandlerFunc {
	return []gin.HandlerFunc{s.observe, s.recoverPanic}
}

// Queue makes loads beyond the first few wait for a processor.
func (s *Server) Queue(wait time.Duration, few int64) {
	s.turn.yield, s.turn.few = func() { time.Sleep(wait) }, few
}

// Refuse and RefusePlain are the transport's callbacks.
func Refuse(w http.ResponseWriter, status int) { refuse(w, refusalKind(status)) }

func RefusePlain(w http.ResponseWriter) { refuse(w, notSecured) }
