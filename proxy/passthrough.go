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

// Passthrough configures what becomes of paths that the server does not answer itself; see package passthrough.
type Passthrough struct {
	Origins  passthrough.Origins // nil without hosts and comparisons
	MaxBytes int64
	Hosts    []passthrough.Host // none: such paths are unknown
	Shadow   shadow.Settings    // which of the server's own answers are compared with those of origins
}

// passthroughErrors are the errors by which a request is not passed through, each with its documented kind.
var passthroughErrors = []struct {
	err  error
	kind Kind
}{
	{passthrough.ErrNoHost, UnknownPath},
	{passthrough.ErrRefused, UnknownPath},
	{passthrough.ErrMethod, methodNotAllowed},
	{passthrough.ErrNotCached, notCached},
}

// openPassthrough makes the handler of such paths.
func (s *Server) openPassthrough(o Passthrough) (err error) {
	s.passthrough, err = passthrough.New(passthrough.Options{
		Origins: quietOrigins{o.Origins}, MaxBytes: o.MaxBytes, Fail: s.failForwarded, Client: s.quotas.Client, Logger: s.log,
	})
	if err != nil {
		return err
	}
	s.passthrough.Configure(o.Hosts)
	s.observeCounts("crossgate.passthrough.requests",
		"Requests for paths that are passed through, by host and outcome.", hostKey, s.passthrough.EachCount)
	return nil
}

// quietOrigins are asked without spans where the request has none, and for comparisons, which belong to no trace.
type quietOrigins struct{ passthrough.Origins }

func (o quietOrigins) Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error) {
	return o.Origins.Forward(untraced(ctx), host, f)
}

// hostKey is the attribute of a host that paths are passed through to, by its configured name.
const hostKey = attribute.Key("crossgate.host")

// PurgeHosts drops stored responses of pass-through hosts: those of paths, with any query, or all without paths; at all
// replicas as soon as they can be reached. A host that is not configured is an error; nothing is dropped then.
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

// SetHosts replaces the hosts that paths are passed through to. Requests under way are not disturbed.
func (s *Server) SetHosts(hosts []passthrough.Host) { s.passthrough.Configure(hosts) }

// unrouted answers what no route does.
func (s *Server) unrouted(c *gin.Context) {
	if !s.passthrough.IsOn() {
		s.TurnAway(c, UnknownPath.Because(""))
		return
	}
	header := c.Writer.Header()
	for _, name := range []string{"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "X-Content-Type-Options"} {
		delete(header, name) // the origin says these
	}
	s.passthrough.ServeHTTP(c.Writer, s.quotas.WithoutKey(c.Request))
	c.Writer.WriteHeaderNow() // Gin would describe a 404 without a body itself
}

// failForwarded answers a request that could not be passed through.
func (s *Server) failForwarded(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(err)
	if broken, is := errors.AsType[*upstream.BodyError](err); is {
		p = refusalKind(transport.StatusOf(broken.Err)).From(err)
	} else if r.Context().Err() != nil {
		p = clientLeft.From(err)
	}
	for _, known := range passthroughErrors {
		if errors.Is(err, known.err) {
			p = known.kind.From(err)
		}
	}
	p.write(w, dialectAt(r.URL.Path))
}
