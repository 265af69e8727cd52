// Package redis runs a Redis or Valkey of the tests' own, from the system's package.
package redis

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is reached by a socket in its directory, and by nothing else.
type Server struct {
	dir     string
	program string
	running *exec.Cmd
}

// Serve runs a server until the test ends. The test is skipped, with what is missing, where there is none.
func Serve(t testing.TB) *Server {
	t.Helper()
	server, err := start()
	if err != nil {
		t.Skipf("no Redis to test with: %v", err)
	}
	t.Cleanup(func() {
		if err := server.remove(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// start makes a directory of data and starts a server on it. remove ends both. An error says what is missing.
func start() (*Server, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "redis") // short: the socket's path must be
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, program: program}
	if err := s.Resume(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func find() (program string, err error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if program, err = exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("neither Redis nor Valkey is installed (apt-get install redis-server): %w", err)
}

// URL is the address of the server's first database.
func (s *Server) URL() string { return "unix://" + s.socket() }

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }

// Resume runs the server on what it saved last and returns when it answers.
func (s *Server) Resume() error {
	s.running = exec.Command(s.program, "--port", "0", "--unixsocket", s.socket(), "--dir", s.dir, //nolint:noctx // it runs until it is ended
		"--save", "", "--appendonly", "no", "--rdbcompression", "no")
	s.running.SysProcAttr = withUs()
	if err := s.running.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(time.Minute)
	for {
		answer, err := s.ask("PING")
		if err == nil && answer == "+PONG" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server does not answer: %s %w", answer, err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// ask sends a command and returns the first line of the answer.
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

// Save writes everything that the server holds to its disk, and returns it: keys and values as they are, between bytes of
// the file's format.
func (s *Server) Save() (content []byte, err error) {
	answer, err := s.ask("SAVE")
	if err != nil || answer != "+OK" {
		return nil, fmt.Errorf("save: %s %w", answer, err)
	}
	return os.ReadFile(filepath.Join(s.dir, "dump.rdb"))
}

// Flush has the server forget everything.
func (s *Server) Flush() error {
	answer, err := s.ask("FLUSHALL")
	if err != nil || answer != "+OK" {
		return fmt.Errorf("flush: %s %w", answer, err)
	}
	return nil
}

// Pause leaves the server its connections and has it answer nothing, until Continue.
func (s *Server) Pause() error { return s.running.Process.Signal(syscall.SIGSTOP) }

// Continue ends Pause.
func (s *Server) Continue() error { return s.running.Process.Signal(syscall.SIGCONT) }

// Kill ends the server at once. What it did not save is gone.
func (s *Server) Kill() error {
	if err := s.running.Process.Kill(); err != nil {
		return err
	}
	if err := s.running.Wait(); s.running.ProcessState == nil {
		return err
	}
	return nil
}

// remove ends the server and removes its data.
func (s *Server) remove() error {
	var err error
	if s.running.ProcessState == nil {
		err = s.Kill()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
