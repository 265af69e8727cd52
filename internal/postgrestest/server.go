// Package postgrestest runs a PostgreSQL server for tests, from the system's package.
package postgrestest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"crossgate/internal/linktest"
)

// Server is a PostgreSQL server that listens only on a socket in its directory.
type Server struct {
	dir      string
	programs string // directory of PostgreSQL's programs
	as       *syscall.Credential
	running  *exec.Cmd
}

// Start starts a server in a new data directory. Remove ends it and deletes the data. An error names missing parts.
func Start() (*Server, error) {
	programs, err := find()
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := directory("postgres", as)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, programs: programs, as: as}
	if _, err := s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-N", "--encoding=UTF8", "--locale=C"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, s.Resume()
}

// Standby starts a read-only server that replicates this one.
func (s *Server) Standby() (*Server, error) {
	dir, err := directory("postgres", s.as)
	if err != nil {
		return nil, err
	}
	standby := &Server{dir: dir, programs: s.programs, as: s.as}
	if _, err := s.run("pg_basebackup", "-h", s.dir, "-U", "postgres", "-D", standby.data(), "-R", "--checkpoint=fast"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return standby, standby.Resume()
}

// directory creates a directory owned by a user. Its path is short, as those of sockets must be.
func directory(name string, of *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp("", name)
	if err == nil && of != nil {
		err = os.Chown(dir, int(of.Uid), int(of.Gid))
	}
	return dir, err
}

// To converts a database's address at the primary to its address here.
func (s *Server) To(primary string) string {
	before, _, _ := strings.Cut(primary, "&host=")
	return before + "&host=" + url.QueryEscape(s.dir)
}

// find returns the newest version among Debian's packages, or the one on the path.
func find() (programs string, err error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err == nil && len(found) > 0 {
		return filepath.Dir(slices.Max(found)), nil
	}
	path, err := exec.LookPath("postgres")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("PostgreSQL is not installed (apt-get install postgresql): %w", err)
	}
	return filepath.Dir(path), nil
}

// Program returns the path of one of PostgreSQL's programs, of the server's version.
func (s *Server) Program(name string) string { return filepath.Join(s.programs, name) }

// unprivileged returns the user to run PostgreSQL as, since it refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "daemon"} {
		who, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(who.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(who.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
	}
	return nil, errors.New("no user to run PostgreSQL as: it refuses to be root")
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, s.Program(program), arguments...)
	command.Dir = s.dir
	command.SysProcAttr = linktest.EndsWithUs(s.as, syscall.SIGQUIT)
	return command
}

func (s *Server) run(program string, arguments ...string) (string, error) {
	const patience = 2 * time.Minute // for a busy machine
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	said, err := s.command(ctx, program, arguments...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, said)
	}
	return string(said), nil
}

// Resume runs the server and returns once it accepts connections.
func (s *Server) Resume() error {
	// It runs until Stop, even while tests whose context has ended clean up.
	s.running = s.command(context.Background(), "postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off")
	if err := s.running.Start(); err != nil {
		return err
	}
	return linktest.Await(func() error {
		_, err := s.run("pg_isready", "-q", "-h", s.dir)
		return err
	})
}

// Stop stops the server and closes all connections to it.
func (s *Server) Stop() error {
	if err := s.running.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	return s.running.Wait()
}

// Kill ends the server immediately, like a crash. Resume recovers its last writes.
func (s *Server) Kill() error {
	if err := s.running.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	if err := s.running.Wait(); s.running.ProcessState == nil {
		return err
	}
	return nil
}

// Suspend stops all processes of the server: connections stay, but nothing answers until Continue.
func (s *Server) Suspend() error { return s.signal(syscall.SIGSTOP) }

// Continue reverses Suspend.
func (s *Server) Continue() error { return s.signal(syscall.SIGCONT) }

// signal sends a signal to the server's main process first, so that it starts no others, and then to its children.
func (s *Server) signal(what syscall.Signal) error {
	if err := s.running.Process.Signal(what); err != nil {
		return err
	}
	found, err := exec.Command("pgrep", "-P", strconv.Itoa(s.running.Process.Pid)).Output()
	if err != nil {
		return fmt.Errorf("pgrep: %w", err)
	}
	for _, field := range strings.Fields(string(found)) {
		id, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		if err := syscall.Kill(id, what); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// Remove ends the server and deletes its data.
func (s *Server) Remove() error { return errors.Join(s.Stop(), os.RemoveAll(s.dir)) }

// Create creates an empty database and returns its address.
func (s *Server) Create(database string) (string, error) {
	_, err := s.run("createdb", "-h", s.dir, "-U", "postgres", database)
	return "postgres:///" + database + "?user=postgres&host=" + url.QueryEscape(s.dir), err
}

// Query returns the rows that a statement finds, one per line with columns separated by |.
func (s *Server) Query(database, statement string) (string, error) {
	return s.run("psql", "-h", s.dir, "-U", "postgres", "-At", "-c", statement, database)
}

// Hold runs statements in their own session and keeps it open until release: locks stay held, a transaction open.
func (s *Server) Hold(database, statements string) (release func() error, err error) {
	session := s.command(context.Background(), "psql", "-h", s.dir, "-U", "postgres", "-qAt", "-v", "ON_ERROR_STOP=1", database)
	in, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start(); err != nil {
		return nil, err
	}
	release = func() error { return errors.Join(in.Close(), session.Wait()) }
	const done = "done"
	if _, err := fmt.Fprintf(in, "%s;\n\\echo %s\n", statements, done); err != nil {
		return nil, errors.Join(err, release())
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == done {
			return release, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("psql did not run %q", statements), release())
}

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
