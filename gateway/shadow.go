package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"crossgate/config"
	"crossgate/proxy/orders"
	"crossgate/proxy/shadow"
)

var _ shadow.Origins = (*sets)(nil)

// shadowSettings are the configured ones as the public server has them.
func shadowSettings(c config.Shadow) shadow.Settings {
	paths := make([]shadow.Path, len(c.Paths))
	for i, each := range c.Paths {
		paths[i] = shadow.Path(each)
	}
	return shadow.Settings{Share: c.Share, Paths: paths}
}

// hostNamed returns the name of a configured host: of the only one where none is named.
func hostNamed(c config.Passthrough, name string) (string, error) {
	names := make([]string, len(c.Hosts))
	for i, each := range c.Hosts {
		names[i] = each.Name
	}
	switch {
	case len(names) == 0:
		return "", errors.New("no origin is configured: add the server that this gateway replaces under passthrough.hosts")
	case name == "" && len(names) == 1:
		return names[0], nil
	case !slices.Contains(names, name):
		return "", fmt.Errorf("origin %q is not configured: want --origin with one of %q", name, names)
	}
	return name, nil
}

// CompareOrder compares what c answers about an order, by the hash of its creation or its id, with what an origin does.
// The origin is the host of that name or, where none is named, the only one.
func CompareOrder(ctx context.Context, c config.Config, log *slog.Logger, host, hash string) (compared orders.ComparedOrder, err error) {
	if host, err = hostNamed(c.Passthrough, host); err != nil {
		return compared, err
	}
	g, err := New(ctx, c, log)
	if err != nil {
		return compared, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if compared, err = g.orders.Compare(ctx, host, hash); err != nil {
		return compared, fmt.Errorf("compare order with origin %s: %w", host, err)
	}
	return compared, nil
}
