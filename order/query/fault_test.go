package query

import (
	"bytes"
	"errors"
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

// TestDamageBehindTheFirstPageIsTold spoils pages that are not read before they are needed: those behind what an empty
// database has.
func TestDamageBehindTheFirstPageIsTold(t *testing.T) {
	path, empty := filled(t), filepath.Join(t.TempDir(), "empty.db")
	if err := openStoreAt(t, empty).Close(); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.Stat(empty)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := fresh.Size(); at < facts.Size(); at += 4096 {
		if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, 64), at); err != nil {
			t.Fatal(err)
		}
	}
	file.Close()
	store := openStoreAt(t, path)
	x := newIndex(store, nil, quietly(follow.Options{}))
	if _, _, err := x.Locked(t.Context(), taker); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("Locked: %v, want that the file is damaged", err)
	}
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
