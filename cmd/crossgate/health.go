package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"crossgate/config"
)

const healthLimit = 3 * time.Second

// healthcheck requests the health of a gateway on this machine, for images without another program to do so.
func healthcheck(flags *pflag.FlagSet) action {
	listen := listenFlag(flags, "`address` of the gateway, instead of the configured one")
	return configured(flags, func(ctx context.Context, c config.Config, out, _ io.Writer) error {
		at := healthURL(c.TLS, cmp.Or(*listen, c.Listen))
		status, err := askHealth(ctx, at)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("it answers HTTP %d", status)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		fmt.Fprintln(out, "healthy:", at)
		return nil
	})
}

// healthURL returns the health URL, for callers on the same machine, of a gateway that listens on an address.
func healthURL(c config.TLS, listen string) string {
	host, port, _ := net.SplitHostPort(listen) // it was checked
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return link(c, net.JoinHostPort(host, port)) + "/healthz"
}

// askHealth returns the status of the response. A gateway that requires a client certificate is alive, and reported as
// 200.
func askHealth(ctx context.Context, at string) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, healthLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return 0, err
	}
	transport := onThisMachine()
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if refused, is := errors.AsType[*net.OpError](err); is && refused.Op == "remote error" {
		return http.StatusOK, nil
	}
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// onThisMachine returns a transport to a gateway on the same machine, whose certificate is for its public name.
func onThisMachine() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
}
