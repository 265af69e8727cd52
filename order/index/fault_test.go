package index

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
)

// filled writes a store with some orders and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orders.db")
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	chains := clockworks(startOfTime, 400, 400, 1)
	followAll(t, New(store, sourcesOf(chains), quietly(Options{Chains: evmChains(1, 137)})))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenRefusesAndKeeps(t *testing.T) {
	damage := func(path string, at int64) {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, 2000), at); err != nil {
			t.Fatal(err)
		}
	}
	alter := func(path, statement string) {
		db, err := openFile(path, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		spoil func(path string)
		says  []string
	}{
		"newer schema": {
			func(path string) {
				alter(path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)`)
			},
			[]string{"version 999", "run the newer crossgate"},
		},
		"somebody else's": {
			func(path string) {
				_ = os.Remove(path)
				alter(path, `CREATE TABLE accounts (id INTEGER)`)
			},
			[]string{`"accounts"`, "name another place"},
		},
		"damaged": {func(path string) { damage(path, 100) }, []string{"damaged", "left as it is", "reads the chains again"}},
		"no database": {
			func(path string) { _ = os.WriteFile(path, bytes.Repeat([]byte("letters to my aunt "), 300), 0o600) },
			[]string{"no database", "left as it is", "name another path"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			test.spoil(path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			store, err := Open(t.Context(), path)
			if err == nil {
				store.Close()
				t.Fatal("it was opened")
			}
			for _, want := range append(test.says, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Open: %v, want %q in it", err, want)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestPostgresRefusesWhatIsNotItsOwn(t *testing.T) {
	for says, statement := range map[string]string{
		"run the newer crossgate": `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)`,
		`"accounts"`:              `DROP TABLE goose_db_version; CREATE TABLE accounts (id INTEGER)`,
	} {
		url := newDatabase(t)
		store := openReplica(t, url)
		if says == `"accounts"` {
			statement = `DROP SCHEMA public CASCADE; CREATE SCHEMA public; ` + strings.SplitAfter(statement, "; ")[1]
		}
		if _, err := store.writer.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenPostgres(t.Context(), url); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("OpenPostgres: %v, want %q in it", err, says)
		}
	}
	_, err := OpenPostgres(t.Context(), "postgres://somebody:SECRET@[nowhere/orders")
	if err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("OpenPostgres of no address: %v", err)
	}
}

// TestDamageBehindTheFirstPageIsTold spoils pages that are not read before they are needed.
func TestDamageBehindTheFirstPageIsTold(t *testing.T) {
	path := filled(t)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(8 * 4096); at < facts.Size(); at += 4096 {
		if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, 64), at); err != nil {
			t.Fatal(err)
		}
	}
	file.Close()
	store := openStoreAt(t, path)
	x := New(store, nil, quietly(Options{}))
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
	if err == nil || !strings.Contains(string(said), "give the gateway's user the right") {
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
