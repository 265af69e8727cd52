package postgrestest

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Link is a way to the server that can be cut without a word: whoever comes by it is connected, and nothing arrives.
type Link struct {
	server   *Server
	dir      string
	listener net.Listener
	serving  sync.WaitGroup

	mu   sync.Mutex
	cut  bool
	ends []net.Conn
}

// socket is the name of a server's socket in its directory.
const socket = ".s.PGSQL.5432"

// NewLink returns an open link. Close ends it.
func (s *Server) NewLink() (*Link, error) {
	dir, err := os.MkdirTemp("", "link")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		return nil, err
	}
	l := &Link{server: s, dir: dir, listener: listener}
	l.serving.Go(l.accept)
	return l, nil
}

// Address is that of a database by way of the link, made of its address at the server.
func (l *Link) Address(direct string) string {
	return strings.Replace(direct, url.QueryEscape(l.server.dir), url.QueryEscape(l.dir), 1)
}

// Cut drops from here on what is sent either way, and Mend ends all connections and lets new ones through.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
}

// Mend is the opposite of Cut.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
	l.hangUp()
}

// Close ends the link.
func (l *Link) Close() error {
	err := l.listener.Close()
	l.mu.Lock()
	l.hangUp()
	l.mu.Unlock()
	l.serving.Wait()
	return err
}

// hangUp is called with the mutex held.
func (l *Link) hangUp() {
	for _, end := range l.ends {
		_ = end.Close()
	}
	l.ends = nil
}

func (l *Link) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", filepath.Join(l.server.dir, socket))
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		l.ends = append(l.ends, near, far)
		l.mu.Unlock()
		l.serving.Go(func() { l.pass(near, far) })
		l.serving.Go(func() { l.pass(far, near) })
	}
}

// pass copies from one end to the other until either is closed.
func (l *Link) pass(from, to net.Conn) {
	defer to.Close()
	part := make([]byte, 16<<10)
	for {
		n, err := from.Read(part)
		if n > 0 && !l.isCut() {
			if _, failed := to.Write(part[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
