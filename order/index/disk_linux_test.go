package index

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

// TestFullDiskIsWaitedFor follows onto a disk that fills up and is given more space.
func TestFullDiskIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=900k"); err != nil {
		t.Skipf("no small disk can be mounted here: %v; run as root, in a container with CAP_SYS_ADMIN", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	store := openStoreAt(t, filepath.Join(dir, "orders.db"))
	chains := clockworks(startOfTime, 2000, 2000, 1)
	x := New(store, map[chain.ID]order.Source{1: chains[1]}, quietly(Options{Chains: evmChains(1), Range: 50}))
	err := x.followers[0].catchUp(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("catchUp: %v, want that the disk is full", err)
	}
	reached := lagOf(x, 1).Indexed
	if o := stored(t, store, clockworkDeal(reached).id); o == nil {
		t.Error("what was stored cannot be read")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	for lagOf(x, 1).Indexed < 2000 {
		if err := x.followers[0].catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	straight := openStore(t)
	followAll(t, New(straight, map[chain.ID]order.Source{1: chains[1]}, quietly(Options{Chains: evmChains(1)})))
	if got, want := answersOf(t, store, chains), answersOf(t, straight, chains); got != want {
		t.Error("the store answers otherwise than one on a large disk")
	}
}
