package postgrestest

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"crossgate/internal/linktest"
)

// Link is a connection path to the server that can fail.
type Link struct {
	*linktest.Link
	server *Server
	dir    string
}

const socket = ".s.PGSQL.5432"

// NewLink returns a healthy link. Close it after use.
func (s *Server) NewLink() (*Link, error) {
	dir, err := os.MkdirTemp("", "link") // short, as the socket's path must be
	if err != nil {
		return nil, err
	}
	link, err := linktest.Open("unix", filepath.Join(dir, socket), filepath.Join(s.dir, socket))
	if err != nil {
		return nil, err
	}
	return &Link{link, s, dir}, nil
}

// To converts a database's address at the server to its address through the link.
func (l *Link) To(direct string) string {
	return strings.Replace(direct, url.QueryEscape(l.server.dir), url.QueryEscape(l.dir), 1)
}

// Close closes the link.
func (l *Link) Close() error { return errors.Join(l.Link.Close(), os.RemoveAll(l.dir)) }
