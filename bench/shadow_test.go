package bench

import (
	"net"
	"os"
	"strconv"

	"crossgate/proxy"
	"crossgate/proxy/shadow"
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
	return serveBefore(listener, "http://"+os.Getenv(shadowOrigin), func(o *proxy.Options, origin singleOrigin) {
		o.Passthrough.Origins = origin
		o.Passthrough.Shadow = shadow.Settings{Share: share, Paths: map[string]string{"/": "origin"}}
	})
}
