package shared

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/redis/rueidis"
)

// Certificates are PEM files for TLS to the server. They are read again for each connection, so renewed ones need no
// restart.
type Certificates struct {
	// Authorities are trusted to sign the server's certificate. Empty: those of the system.
	Authorities string
	// Own and Key are this gateway's client certificate. Empty: none.
	Own, Key string
}

// secured returns the option with what the files have now. Errors do not quote their paths: by mistake one may hold
// the content of the file.
func (c Certificates) secured(option rueidis.ClientOption) (rueidis.ClientOption, error) {
	if option.TLSConfig == nil {
		return option, nil
	}
	option.TLSConfig = option.TLSConfig.Clone()
	if c.Authorities != "" {
		text, err := os.ReadFile(c.Authorities)
		if err != nil {
			return option, fmt.Errorf("certificate of the authority: %w", withoutPath(err))
		}
		option.TLSConfig.RootCAs = x509.NewCertPool()
		if !option.TLSConfig.RootCAs.AppendCertsFromPEM(text) {
			return option, errors.New("certificate of the authority: the file has no certificate in PEM")
		}
	}
	if c.Own != "" {
		own, err := tls.LoadX509KeyPair(c.Own, c.Key)
		if err != nil {
			return option, fmt.Errorf("certificate of this gateway and its key: %w", withoutPath(err))
		}
		option.TLSConfig.Certificates = []tls.Certificate{own}
	}
	return option, nil
}

func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
