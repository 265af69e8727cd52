package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"

	"crossgate/cache"
	"crossgate/proxy/passthrough"
	"crossgate/proxy/shadow"
	"crossgate/proxy/transport"
	"crossgate/upstream"
)

// Passthrough configures how paths that the server does not answer itself are handled; see package passthrough.
type Passthrough struct {
	Origins  passthrough.Origins // nil without hosts and comparisons
	MaxBytes int64
	Hosts    []passthrough.Host // without any, such paths are unknown
	Shadow   shadow.Settings    // which of the server's own answers are compared with an origin's
}

// openPassthrough creates the handler of paths without a route.
func (s *Server) openPassthrough(o Passthrough) (err error) {
	s.passthrough, err = passthrough.New(passthrough.Options{
		Origins: quietOrigins{o.Origins}, MaxBytes: o.MaxBytes, Client: s.quotas.Client, Logger: s.log,
	})
	if err != nil {
		return err
	}
	s.passthrough.Configure(o.Hosts)
	s.observeCounts("crossgate.passthrough.requests",
		"Requests passed through to an origin, by host and outcome.", hostKey, s.passthrough.EachCount)
	return nil
}

// quietOrigins calls origins without spans if the request has none, as comparisons never do.
type quietOrigins struct{ passthrough.Origins }

func (o quietOrigins) Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error) {
	return o.Origins.Forward(untraced(ctx), host, f)
}

// hostKey is the attribute of a pass-through host, by its configured name.
const hostKey = attribute.Key("crossgate.host")

// PurgeHosts purges stored responses of pass-through hosts on all replicas, once each is reachable: those of paths,
// with any query, or all if paths is empty. If a host is not configured, it fails and purges nothing.
func (s *Server) PurgeHosts(how cache.Purge, hosts, paths []string) error {
	for _, name := range hosts {
		if !slices.Contains(s.passthrough.Hosts(), name) {
			return fmt.Errorf("host must be the name of one of passthrough.hosts")
		}
	}
	keys := s.passthrough.Purge(how, hosts, paths)
	if s.Options.Shared != nil {
		s.Options.Shared.Purge(how, keys...)
	}
	return nil
}

// SetHosts replaces the pass-through hosts. Requests in flight are unaffected.
func (s *Server) SetHosts(hosts []passthrough.Host) { s.passthrough.Configure(hosts) }

func (s *Server) unrouted(c *gin.Context) {
	if !s.passthrough.IsOn() {
		s.TurnAway(c, UnknownPath.Because(""))
		return
	}
	header := c.Writer.Header()
	for _, name := range []string{"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "X-Content-Type-Options"} {
		delete(header, name) // the origin sets these
	}
	if err := s.passthrough.Serve(c.Writer, s.quotas.WithoutKey(c.Request)); err != nil {
		s.failForwarded(c, err)
	}
	c.Writer.WriteHeaderNow() // Gin would otherwise add a body to an empty 404
}

func (s *Server) failForwarded(c *gin.Context, err error) {
	p := ProblemOf(err)
	allowOrigins(c)
	c.Writer.Header()["X-Content-Type-Options"] = noSniff
	if broken, is := errors.AsType[*upstream.BodyError](err); is {
		p = refusalKind(transport.StatusOf(broken.Err)).From(err)
	} else if c.Request.Context().Err() != nil {
		p = clientLeft.From(err)
	}
	if p.Status == http.StatusMethodNotAllowed {
		c.Writer.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	}
	s.fail(c, dialectAt(c.Request.URL.Path), p)
}
