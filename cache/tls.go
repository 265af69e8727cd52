package cache

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/redis/rueidis"
)

// Certificates are files in PEM for TLS to the server. They are read anew for each connection, so that those who renew
// them need tell nobody.
type Certificates struct {
	// Authorities sign the server's certificate, instead of those that the system knows. Empty: those of the system.
	Authorities string
	// Own and Key are what the server knows this gateway by. Empty: it need not.
	Own, Key string
}

// secured returns the option with what the files have now. Errors do not quote their paths: one may hold by mistake what
// belongs into the file.
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
