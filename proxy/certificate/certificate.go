// Package certificate keeps the TLS configuration of a listener that of its files, which somebody else renews.
package certificate

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

// Files are PEM files.
type Files struct {
	Own, Key string // the listener's certificate, with those that lead to its authority, and its private key
	Clients  string // authorities that clients' certificates must come from; empty: clients need none
}

// Config returns the configuration of a listener for HTTP/2 and HTTP/1.1. A handshake looks whether the files have
// changed; while what they have then cannot be used, the listener goes on with what it had, and log is told once. An
// error says which file cannot be used now, without its path: by mistake that may hold the content of the file.
func (f Files) Config(log *slog.Logger) (*tls.Config, error) {
	w := &watch{files: f, log: log, seen: f.look()}
	var err error
	if w.current, err = f.load(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return w.now(), nil },
	}, nil
}

// load makes a configuration of what the files have.
func (f Files) load() (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(f.Own, f.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the listener and its key: %w", withoutPath(err))
	}
	made := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{own},
	}
	if f.Clients == "" {
		return made, nil
	}
	text, err := os.ReadFile(f.Clients)
	if err != nil {
		return nil, fmt.Errorf("authorities of clients: %w", withoutPath(err))
	}
	made.ClientAuth, made.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !made.ClientCAs.AppendCertsFromPEM(text) {
		return nil, errors.New("authorities of clients: the file has no certificate in PEM")
	}
	return made, nil
}

func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// watch is the files as they were last seen.
type watch struct {
	files Files
	log   *slog.Logger

	mu      sync.Mutex
	seen    [3]stamp
	current *tls.Config
}

// stamp tells one content of a file from the next.
type stamp struct {
	modified time.Time
	size     int64
}

func (f Files) look() (seen [3]stamp) {
	for i, path := range []string{f.Own, f.Key, f.Clients} {
		if info, err := os.Stat(path); err == nil {
			seen[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return seen
}

// now is the configuration for a handshake.
func (w *watch) now() *tls.Config {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.files.look()
	if seen == w.seen {
		return w.current
	}
	w.seen = seen
	made, err := w.files.load()
	if err != nil {
		w.log.Error("changed TLS files cannot be used: going on with those before", "error", err)
		return w.current
	}
	w.log.Info("changed TLS files loaded")
	w.current = made
	return made
}
