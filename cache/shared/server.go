package shared

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"crossgate/internal/tlsfiles"
)

// server is the address of a Valkey or Redis, and the credentials for it.
type server struct {
	network, address string
	tls              *tls.Config // nil for no TLS
	user, password   string
	database         int
}

// parseURL parses redis://user:password@host:port/database, rediss:// for TLS, or unix:///path?db=database. Its error
// does not wrap the cause, which quotes the URL and thus its password.
func parseURL(text string) (s server, err error) {
	wrong := errors.New("shared cache: malformed URL: want redis://user:password@host:6379/0, with characters of the " +
		"password other than letters and digits percent-encoded")
	read, err := url.Parse(text)
	if err != nil {
		return s, wrong
	}
	database := strings.TrimPrefix(read.Path, "/")
	switch read.Scheme {
	case "unix":
		s.network, s.address = "unix", read.Path
		database = read.Query().Get("db")
		read.RawQuery = ""
	case "redis", "rediss":
		host, port := read.Hostname(), read.Port()
		if host == "" {
			host = "localhost"
		}
		if port == "" {
			port = "6379"
		}
		s.network, s.address = "tcp", net.JoinHostPort(host, port)
		if read.Scheme == "rediss" {
			s.tls = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
		}
		// A / ? or # in the password ends the host early, and the first part of the password looks like the port.
		if read.User == nil && strings.Contains(text, "@") {
			return s, wrong
		}
	default:
		return s, wrong
	}
	if database != "" {
		if s.database, err = strconv.Atoi(database); err != nil || s.database < 0 {
			return s, wrong
		}
	}
	if read.RawQuery != "" || read.Fragment != "" || s.address == "" {
		return s, wrong
	}
	s.user = read.User.Username()
	s.password, _ = read.User.Password()
	return s, nil
}

// secured returns the server with the authorities currently in a file, or the system's if file is empty.
func (s server) secured(file string) (_ server, err error) {
	if s.tls == nil || file == "" {
		return s, nil
	}
	s.tls = s.tls.Clone()
	s.tls.RootCAs, err = tlsfiles.Authorities(file)
	return s, err
}

// dial returns an authenticated connection. Writes, and reads by default, time out after silence.
func (s server) dial(ctx context.Context, silence time.Duration) (redis.Conn, error) {
	connection, err := redis.DialContext(ctx, s.network, s.address,
		redis.DialConnectTimeout(connectTimeout), redis.DialTLSHandshakeTimeout(connectTimeout),
		redis.DialReadTimeout(silence), redis.DialWriteTimeout(silence), redis.DialUseTLS(s.tls != nil), redis.DialTLSConfig(s.tls),
		redis.DialUsername(s.user), redis.DialPassword(s.password), redis.DialDatabase(s.database))
	if err != nil {
		return nil, s.withoutPassword(err)
	}
	return connection, nil
}

// withoutPassword redacts an error: a server that does not know a command quotes it.
func (s server) withoutPassword(err error) error {
	if s.password == "" || !strings.Contains(err.Error(), s.password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), s.password, "[redacted]"))
}
