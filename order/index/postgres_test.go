package index

import (
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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// server is a PostgreSQL of the tests' own, reached by a socket in its directory.
type server struct {
	dir      string
	postgres string // the program
	as       *syscall.Credential
	running  *exec.Cmd
}

// shared is started by the first test that needs it, and stopped by TestMain.
var shared struct {
	once    sync.Once
	server  *server
	missing error
	names   int
}

// openPostgres opens a store in a database of its own.
func openPostgres(t *testing.T) *Store {
	t.Helper()
	return openReplica(t, newDatabase(t))
}

func openReplica(t *testing.T, url string) *Store {
	t.Helper()
	store, err := OpenPostgres(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// newDatabase makes an empty database on the shared server and returns its address.
func newDatabase(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.missing = newServer() })
	if shared.missing != nil {
		t.Skipf("PostgreSQL is not there (apt-get install postgresql): %v", shared.missing)
	}
	shared.names++
	return shared.server.create(t, fmt.Sprintf("index%d", shared.names))
}

// newServer makes a directory of data and starts a server on it.
func newServer() (*server, error) {
	postgres, err := findPostgres()
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "postgres") // short: the socket's path must be
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, postgres: postgres, as: as}
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			return nil, err
		}
	}
	initialise := s.command(filepath.Join(filepath.Dir(postgres), "initdb"),
		"-D", s.data(), "-U", "postgres", "-A", "trust", "-N", "--encoding=UTF8", "--locale=C")
	if said, err := initialise.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, said)
	}
	return s, s.start()
}

func findPostgres() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", errors.New("no program postgres on the path or in /usr/lib/postgresql")
	}
	return slices.Max(found), nil
}

// unprivileged is whom PostgreSQL runs as, since it refuses to be root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		who, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(who.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(who.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
	}
	return nil, errors.New("no user to run it as")
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) command(program string, arguments ...string) *exec.Cmd {
	command := exec.Command(program, arguments...)
	command.Dir = s.dir
	command.SysProcAttr = withUs(s.as)
	return command
}

// start runs the server and returns when it takes connections.
func (s *server) start() error {
	s.running = s.command(s.postgres, "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off")
	if err := s.running.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		connection, err := pgx.Connect(ctx, s.url("postgres"))
		cancel()
		if err == nil {
			return connection.Close(context.Background())
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// stop ends the server and all connections to it.
func (s *server) stop() error {
	if err := s.running.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	return s.running.Wait()
}

func (s *server) remove() error { return errors.Join(s.stop(), os.RemoveAll(s.dir)) }

func (s *server) url(database string) string {
	return "postgres:///" + database + "?user=postgres&host=" + url.QueryEscape(s.dir)
}

func (s *server) create(t *testing.T, database string) string {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), s.url("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(t.Context())
	if _, err := connection.Exec(t.Context(), "CREATE DATABASE "+database); err != nil {
		t.Fatal(err)
	}
	return s.url(database)
}

// TestPostgresTellsTheSame follows chains that are rewritten into both databases.
func TestPostgresTellsTheSame(t *testing.T) {
	stores := []*Store{openStore(t), openPostgres(t)}
	deals := []deal{newDeal(1, 1, 137), newDeal(2, 1, 137), newDeal(3, 137, 1)}
	give, take := newLedger(1), newLedger(137)
	pass := func() {
		for _, store := range stores {
			follow(t, newFollower(store, 1, give, quietly(Options{Range: 2})))
			follow(t, newFollower(store, 137, take, quietly(Options{Range: 2})))
		}
		for _, d := range deals {
			if diff := cmp.Diff(stored(t, stores[0], d.id), stored(t, stores[1], d.id), compare); diff != "" {
				t.Fatalf("order %s (-SQLite +PostgreSQL):\n%s", d.id, diff)
			}
		}
		if diff := cmp.Diff(lockedIn(t, stores[0]), lockedIn(t, stores[1]), compare); diff != "" {
			t.Fatalf("locked (-SQLite +PostgreSQL):\n%s", diff)
		}
	}
	give.mine([]told{deals[0].created(), deals[1].created()}, []told{deals[2].fulfilled()})
	pass()
	take.mine([]told{deals[0].fulfilled(), deals[1].fulfilled()}, []told{deals[2].created()})
	take.mine([]told{deals[0].sentUnlock()})
	pass()
	take.drop(2)
	take.mine([]told{deals[1].fulfilled()})
	take.mine()
	give.mine([]told{deals[1].claimedUnlock()})
	pass()
}

func TestPostgresKeepsEveryFact(t *testing.T) {
	store := openPostgres(t)
	checkFactsSurvive(t, store)
}
