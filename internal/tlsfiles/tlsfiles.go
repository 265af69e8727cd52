// Package tlsfiles builds TLS configurations from PEM files that are renewed while in use. Errors never contain the
// paths: one may by mistake hold the content of the file.
package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Files are the PEM files of a listener.
type Files struct {
	Own, Key    string // certificate chain and private key
	Authorities string // authorities of clients' certificates; empty if clients need none
}

// Server returns the configuration of a listener for HTTP/2 and HTTP/1.1. Each handshake checks whether the files have
// changed; if they are unusable, the listener continues with the previous ones and logs one line. An error says which
// file is unusable now.
func (f Files) Server(log *slog.Logger) (*tls.Config, error) {
	w := &watch{files: f, log: log, seen: f.look()}
	var err error
	if w.current, err = f.listener(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return w.now(), nil },
	}, nil
}

func (f Files) listener() (*tls.Config, error) {
	made := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	var err error
	if made.Certificates, made.ClientCAs, err = f.load(); err != nil {
		return nil, err
	}
	if made.ClientCAs != nil {
		made.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return made, nil
}

func (f Files) load() (own []tls.Certificate, authorities *x509.CertPool, err error) {
	if f.Authorities != "" {
		if authorities, err = Authorities(f.Authorities); err != nil {
			return nil, nil, err
		}
	}
	text, err := os.ReadFile(f.Own)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of this gateway: %w", withoutPath(err))
	}
	key, err := os.ReadFile(f.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("private key of this gateway: %w", withoutPath(err))
	}
	pair, err := tls.X509KeyPair(text, key)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of this gateway and its key: %w", err)
	}
	return []tls.Certificate{pair}, authorities, nil
}

// Authorities reads the certificates of authorities.
func Authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("certificate of the authority: %w", withoutPath(err))
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, errors.New("certificate of the authority: the file has no certificate in PEM")
	}
	return authorities, nil
}

func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// watch is the files as last seen.
type watch struct {
	files Files
	log   *slog.Logger

	mu      sync.Mutex
	seen    [3]stamp
	current *tls.Config
}

type stamp struct {
	modified time.Time
	size     int64
}

func (f Files) look() (seen [3]stamp) {
	for i, path := range []string{f.Own, f.Key, f.Authorities} {
		if info, err := os.Stat(path); err == nil {
			seen[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return seen
}

func (w *watch) now() *tls.Config {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.files.look()
	if seen == w.seen {
		return w.current
	}
	w.seen = seen
	made, err := w.files.listener()
	if err != nil {
		w.log.Error("changed TLS files are unusable; keeping the previous ones", "error", err)
		return w.current
	}
	w.log.Info("changed TLS files loaded")
	w.current = made
	return made
}
