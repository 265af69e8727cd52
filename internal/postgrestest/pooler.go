package postgrestest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"crossgate/internal/linktest"
)

// Pooler is a PgBouncer in front of a server, otherwise with the settings of its package.
type Pooler struct {
	server  *Server
	dir     string
	running *exec.Cmd
}

// ErrNoPooler means that PgBouncer is not installed.
var ErrNoPooler = errors.New("PgBouncer is not installed (apt-get install pgbouncer)")

const poolerPort = "6432"

// NewPooler runs a PgBouncer for a database of the server. mode is session, transaction or statement. Close stops it.
func (s *Server) NewPooler(database, mode string) (*Pooler, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, ErrNoPooler
	}
	dir, err := directory("pooler", s.as)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "pgbouncer.ini")
	settings := fmt.Sprintf("[databases]\n%s = host=%s user=postgres\n[pgbouncer]\npool_mode = %s\nunix_socket_dir = %s\n"+
		"listen_addr =\nlisten_port = %s\nauth_type = any\n", database, s.dir, mode, dir, poolerPort)
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		return nil, err
	}
	p := &Pooler{server: s, dir: dir, running: exec.Command(program, "--quiet", file)} //nolint:noctx // it runs until Close
	p.running.SysProcAttr = linktest.EndsWithUs(s.as, syscall.SIGQUIT)
	if err := p.running.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	err = linktest.Await(func() error {
		connection, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL."+poolerPort)) //nolint:noctx // it takes no time
		if err != nil {
			return err
		}
		return connection.Close()
	})
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// To converts the database's address at the server to its address through the pooler.
func (p *Pooler) To(direct string) string {
	return strings.Replace(direct, url.QueryEscape(p.server.dir), url.QueryEscape(p.dir)+"&port="+poolerPort, 1)
}

// Close ends the pooler and all connections through it.
func (p *Pooler) Close() error {
	err := p.running.Process.Signal(syscall.SIGTERM)
	_ = p.running.Wait() // however it ends
	return errors.Join(err, os.RemoveAll(p.dir))
}
