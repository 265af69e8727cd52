package gateway

import (
	"crypto/tls"
	"log/slog"

	"crossgate/certificate"
	"crossgate/config"
)

// secure makes the TLS configuration of a listener, whose files are at a path of c. nil: the listener has none.
func secure(c config.Config, path string, t config.TLS, log *slog.Logger) (*tls.Config, error) {
	if t.CertFile == "" {
		return nil, nil
	}
	made, err := certificate.Files{Own: t.CertFile, Key: t.KeyFile, Authorities: t.ClientCAFile}.Server(log)
	if err != nil {
		return nil, config.Mistakes{c.Mistake(path, err.Error())}
	}
	return made, nil
}

// listenerTLS makes those of the public and the operators' listener.
func listenerTLS(c config.Config, log *slog.Logger) (public, operators *tls.Config, err error) {
	if public, err = secure(c, "tls", c.TLS, log); err != nil {
		return nil, nil, err
	}
	operators, err = secure(c, "telemetry.tls", c.Telemetry.TLS, log)
	return public, operators, err
}
