package query

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"crossgate/chain"
	"crossgate/internal/must"
)

func TestMain(m *testing.M) {
	if plan, isChild := os.LookupEnv(childPlan); isChild {
		if err := beChild(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	_ = flag.Set("rapid.checks", "25") // unless the command line says otherwise
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if shared.server != nil {
			if err := shared.server.Remove(); err != nil {
				fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// compare lets cmp compare the unexported fields of package chain.
var compare = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.TxHash) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a.Cmp(b) == 0 }),
}

// TestFileThatMustNotBeWritten runs as a user without write permission.
func TestFileThatMustNotBeWritten(t *testing.T) {
	dir := must.Get(os.MkdirTemp("", "readonly"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path, binary := filepath.Join(dir, "orders.db"), filepath.Join(dir, "index.test")
	must.Do(t, openStoreAt(t, path).Close())
	self := must.Get(os.ReadFile(os.Args[0]))(t)
	must.Do(t, os.WriteFile(binary, self, 0o600))
	for _, each := range []struct {
		name string
		mode os.FileMode
	}{{path, 0o444}, {binary, 0o555}, {dir, 0o555}} {
		must.Do(t, os.Chmod(each.name, each.mode))
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	before := must.Get(os.ReadFile(path))(t)
	command := exec.Command(binary)
	command.Env = append(os.Environ(), childPlan+`={"Store":"`+path+`"}`)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: nobody(t)}
	must.Get(command.StdinPipe())(t)
	said, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "grant the gateway's user write access") {
		t.Errorf("the process said %q, %v, want advice about rights", said, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}

// nobody returns the credentials of an unprivileged user if this is root, and nil otherwise.
func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	who, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("this is root, who may write everything, and there is no user to become: %v; run as somebody else, or add the user nobody", err)
	}
	uid := must.Get(strconv.ParseUint(who.Uid, 10, 32))(t)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
}
