package query

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestFileThatMustNotBeWritten runs as a user who has no right to.
func TestFileThatMustNotBeWritten(t *testing.T) {
	dir, err := os.MkdirTemp("", "readonly") //nolint:usetesting // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path, binary := filepath.Join(dir, "orders.db"), filepath.Join(dir, "index.test")
	if err := openStoreAt(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, self, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		name string
		mode os.FileMode
	}{{path, 0o444}, {binary, 0o555}, {dir, 0o555}} {
		if err := os.Chmod(each.name, each.mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary)
	command.Env = append(os.Environ(), childPlan+`={"Store":"`+path+`"}`)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: nobody(t)}
	if _, err := command.StdinPipe(); err != nil { // it ends when its input does
		t.Fatal(err)
	}
	said, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "grant the gateway's user write access") {
		t.Errorf("the process said %q, %v, want advice about rights", said, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}

// nobody is whom root becomes to have no rights; others are what they are.
func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	who, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("this is root, who may write everything, and there is no user to become: %v; run as somebody else, or add the user nobody", err)
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
}
