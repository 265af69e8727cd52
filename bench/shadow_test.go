package bench

import (
	"context"
	"net"
	"os"
	"strconv"

	"crossgate/proxy"
	"crossgate/proxy/shadow"
	"crossgate/upstream"
)

// Variables that tell shadowedHot its origin and the share of requests that are compared.
const (
	shadowOrigin = "CROSSGATE_SHADOW_ORIGIN"
	shadowShare  = "CROSSGATE_SHADOW_SHARE"
)

// shadowedHot is the face of crossgateHot, of whose answers a share is compared with those of another process.
func shadowedHot(listener net.Listener) error {
	share, err := strconv.ParseFloat(os.Getenv(shadowShare), 64)
	if err != nil {
		return err
	}
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "origin", URL: "http://" + os.Getenv(shadowOrigin), Forwards: true})
	if err != nil {
		return err
	}
	defer endpoint.Close()
	server, err := newHotServer(func(o *proxy.Options) {
		o.Passthrough.Origins = singleOrigin{upstream.NewPool("origin", endpoint)}
		o.Passthrough.Shadow = shadow.Settings{Share: share, Paths: []shadow.Path{{Prefix: "/", Host: "origin"}}}
	})
	if err != nil {
		return err
	}
	return server.Run(context.Background(), listener)
}
