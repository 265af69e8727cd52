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
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/audit"
)

func showStatus(flags *pflag.FlagSet) action {
	return configured(flags, func(ctx context.Context, c config.Config, out, _ io.Writer) error {
		return withBooks(ctx, c, func(books *audit.Books) error {
			status, err := books.Status(ctx)
			if err == nil {
				writeStatus(out, c.Registry(), status)
			}
			return err
		})
	})
}

func writeStatus(out io.Writer, registry chain.Registry, status []audit.Status) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "chain\thead\tindexed from\tsince (UTC)\tto\tas of (UTC)\tlag\tproven to\tquarantined\torders\tlocked\t")
	for _, s := range status {
		head, since, at, lag, proven := fmt.Sprint(s.Head), "-", "-", "not read yet", "-"
		if s.Known {
			// The lag is in blocks, since a chain may have stopped producing them.
			since, at, lag = "all", utcText(s.IndexedTime), fmt.Sprintf("%d blocks", s.Head-min(s.Indexed, s.Head))
		}
		if s.Known && s.From.Number > 0 {
			since = utcText(s.From.Time)
		}
		if s.Err != nil {
			head = "unreachable"
		}
		if s.Err != nil && s.Known {
			lag = "?"
		}
		if s.Proven > 0 {
			proven = fmt.Sprint(s.Proven)
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t\n", chainText(registry, s.Chain), head,
			s.From.Number, since, s.Indexed, at, lag, proven, len(s.Quarantined), s.Orders, s.Locked)
	}
	_ = table.Flush() // run notices
	table = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range status {
		for _, b := range s.Quarantined {
			fmt.Fprintf(table, "quarantined: %s\tblock %d\tsince %s UTC\t%s\n", chainText(registry, s.Chain), b.Number, utcText(b.Since), b.Reason)
		}
	}
	_ = table.Flush()
}

func chainText(registry chain.Registry, id chain.ID) string {
	known, _ := registry.Chain(id)
	return fmt.Sprintf("%s (%d)", known.Name, id)
}

func utcText(unix uint64) string { return time.Unix(int64(unix), 0).UTC().Format(time.DateTime) }

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
