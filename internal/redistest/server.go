// Package redistest runs a Redis or Valkey server for tests, from the system's package.
package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"crossgate/internal/linktest"
)

// Server is a Redis or Valkey server. It listens only on a socket in its directory, unless it is guarded.
type Server struct {
	dir     string
	program string
	guarded *Guarded
	port    int // of TLS; zero if none
	running *exec.Cmd
}

// Guarded is how a server is reached from elsewhere: over TLS, by one user with a password. The user has the
// permissions that a gateway needs by docs/operations.md.
type Guarded struct {
	Own            Pair // the server's certificate
	User, Password string
}

// Serve runs a server until the test ends. It skips the test, with the reason, if none is installed.
func Serve(t testing.TB) *Server {
	t.Helper()
	return serve(t, nil)
}

// ServeGuarded is like Serve, for a server that also listens for TLS on Port.
func ServeGuarded(t testing.TB, by Guarded) *Server {
	t.Helper()
	return serve(t, &by)
}

func serve(t testing.TB, by *Guarded) *Server {
	t.Helper()
	program, err := find()
	if err != nil {
		t.Skipf("no Redis to test with: %v", err)
	}
	dir, err := os.MkdirTemp("", "redis") // short, as the socket's path must be
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{dir: dir, program: program, guarded: by}
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	})
	if by != nil {
		var free string
		if free, err = linktest.FreeAddress(); err == nil {
			s.port = int(netip.MustParseAddrPort(free).Port())
		}
	}
	if err := errors.Join(err, s.Resume()); err != nil {
		t.Skipf("no Redis to test with: %v", err)
	}
	return s
}

func find() (program string, err error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if program, err = exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("neither Redis nor Valkey is installed (apt-get install redis-server): %w", err)
}

// URL returns the address of the server's first database.
func (s *Server) URL() string { return "unix://" + s.socket() }

// Port returns the port of 127.0.0.1 on which a guarded server speaks TLS.
func (s *Server) Port() int { return s.port }

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }

// Resume runs the server with the data last saved and returns once it answers.
func (s *Server) Resume() error {
	arguments := []string{
		"--port", "0", "--unixsocket", s.socket(), "--dir", s.dir, "--save", "", "--appendonly", "no", "--rdbcompression", "no",
	}
	if s.guarded != nil {
		arguments = append(arguments, s.guarded.arguments(s.port)...)
	}
	s.running = exec.Command(s.program, arguments...) //nolint:noctx // it runs until it is ended
	s.running.SysProcAttr = linktest.EndsWithUs(nil, syscall.SIGKILL)
	if err := s.running.Start(); err != nil {
		return err
	}
	return linktest.Await(func() error { return s.do("PING", "+PONG") })
}

func (g Guarded) arguments(port int) []string {
	return []string{
		"--bind", "127.0.0.1", "--tls-port", strconv.Itoa(port),
		// It requires an authority's file even if clients need no certificate.
		"--tls-cert-file", g.Own.Certificate, "--tls-key-file", g.Own.Key, "--tls-ca-cert-file", g.Own.Certificate, "--tls-auth-clients", "no",
		"--user", g.User, "on", ">" + g.Password, "~{crossgate:*", "&{crossgate:*",
		"+@scripting", "+@read", "+@write", "+@pubsub", "+@connection", "+info", "+time",
	}
}

func (s *Server) ask(command string) (answer string, err error) {
	conn, err := net.Dial("unix", s.socket()) //nolint:noctx // bounded below
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	const patience = 30 * time.Second
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		return "", err
	}
	answer, err = bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer), err
}

// Save saves all data of the server and returns the file: keys and values verbatim, between bytes of the file's format.
func (s *Server) Save() (content []byte, err error) {
	if err := s.do("SAVE", "+OK"); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(s.dir, "dump.rdb"))
}

// Flush deletes all data of the server.
func (s *Server) Flush() error { return s.do("FLUSHALL", "+OK") }

func (s *Server) do(command, want string) error {
	answer, err := s.ask(command)
	if err == nil && answer != want {
		err = fmt.Errorf("%s: %s", command, answer)
	}
	return err
}

// Pause keeps the server's connections open but stops it from answering until Continue.
func (s *Server) Pause() error { return s.running.Process.Signal(syscall.SIGSTOP) }

// Continue reverses Pause.
func (s *Server) Continue() error { return s.running.Process.Signal(syscall.SIGCONT) }

// Kill ends the server immediately. Unsaved data is lost.
func (s *Server) Kill() error {
	if err := s.running.Process.Kill(); err != nil {
		return err
	}
	if err := s.running.Wait(); s.running.ProcessState == nil {
		return err
	}
	return nil
}

func (s *Server) remove() error {
	var err error
	if s.running != nil && s.running.Process != nil && s.running.ProcessState == nil {
		err = s.Kill()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
