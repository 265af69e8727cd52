package gateway

import (
	"crossgate/config"
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
