package bench

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"

	"crossgate/proxy"
	"crossgate/proxy/passthrough"
	"crossgate/proxy/shadow"
	"crossgate/upstream"
)

// passedPath is one that the gateway passes through. Its origin answers with the same order as hotPath.
const passedPath = "/api/Orders/passed/through/0x0000000000000000000000000000000000000000000000000000000000000000"

// singleOrigin is one origin for all hosts.
type singleOrigin struct{ pool *upstream.Pool }

func (o singleOrigin) Forward(ctx context.Context, _ string, f upstream.Forward) (*http.Response, error) {
	return o.pool.Forward(ctx, f)
}

// passingHot is crossgateHot with an origin behind it for other paths.
func passingHot(listener net.Listener) error {
	body, err := hotBody()
	if err != nil {
		return err
	}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=86400")
		w.Header().Set("Content-Length", strconv.Itoa(len(body))) // else the first clients may get it in chunks
		_, _ = w.Write(body)
	}))
	defer origin.Close()
	return serveBefore(listener, origin.URL, func(o *proxy.Options, origin singleOrigin) {
		o.Passthrough = proxy.Passthrough{
			Origins: origin, MaxBytes: 64 << 20,
			Hosts: []passthrough.Host{{Name: "origin", MaxBody: passthrough.DefaultMaxBody}},
		}
	})
}

// serveBefore is crossgateHot in front of an origin.
func serveBefore(listener net.Listener, origin string, change func(*proxy.Options, singleOrigin)) error {
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "origin", URL: origin, Forwards: true})
	if err != nil {
		return err
	}
	defer endpoint.Close()
	server, err := newHotServer(func(o *proxy.Options) { change(o, singleOrigin{upstream.NewPool("origin", endpoint)}) })
	if err != nil {
		return err
	}
	return server.Run(context.Background(), listener)
}

// Variables with shadowedHot's origin and the share of requests to compare.
const (
	shadowOrigin = "CROSSGATE_SHADOW_ORIGIN"
	shadowShare  = "CROSSGATE_SHADOW_SHARE"
)

// shadowedHot is crossgateHot, with a share of its answers compared with those of another process.
func shadowedHot(listener net.Listener) error {
	share, err := strconv.ParseFloat(os.Getenv(shadowShare), 64)
	if err != nil {
		return err
	}
	return serveBefore(listener, "http://"+os.Getenv(shadowOrigin), func(o *proxy.Options, origin singleOrigin) {
		o.Passthrough.Origins = origin
		o.Passthrough.Shadow = shadow.Settings{Share: share, Paths: map[string]string{"/": "origin"}}
	})
}
