package query

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"crossgate/order/follow"
	"crossgate/store"
)

// filled writes a store with some orders and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orders.db")
	store, err := store.OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	chains := clockworks(startOfTime, 400, 400, 1)
	followAll(t, newIndex(store, sourcesOf(chains), quietly(follow.Options{Chains: evmChains(1, 137)})))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFileThatMustNotBeWritten runs as a user who has no right to.
func TestFileThatMustNotBeWritten(t *testing.T) {
	dir, err := os.MkdirTemp("", "readonly") //nolint:usetesting // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path, binary := filepath.Join(dir, "orders.db"), filepath.Join(dir, "index.test")
	copyFile(t, path, filled(t))
	copyFile(t, binary, os.Args[0])
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

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}
