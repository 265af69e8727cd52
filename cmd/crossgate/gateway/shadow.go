package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"crossgate/config"
	"crossgate/proxy"
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

// CompareOrder compares what c answers about an order, by the hash of its creation or its id, with what an origin does.
// The origin is the host of that name or, where none is named, the only one.
func CompareOrder(ctx context.Context, c config.Config, log *slog.Logger, host, hash string) (compared proxy.ComparedOrder, err error) {
	if host, err = hostNamed(c.Passthrough, host); err != nil {
		return compared, err
	}
	c.Index.Wait = 0 // somebody sits before it
	g, err := New(ctx, c, log)
	if err != nil {
		return compared, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if compared, err = g.server.CompareOrder(ctx, host, hash); err != nil {
		return compared, fmt.Errorf("compare order with origin %s: %w", host, err)
	}
	return compared, nil
}
