package query

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/list"
)

// TestANewStoreOnAFullDiskIsEmpty follows a chain onto a disk that only has room for its first blocks, before and after
// a restart.
func TestANewStoreOnAFullDiskIsEmpty(t *testing.T) {
	t.Parallel()
	path := filepath.Join(smallDisk(t, "1100k"), "orders.db")
	chains := clockworks(startOfTime, 800, 800, 1)
	for _, when := range []string{"at first", "after a restart"} {
		db := openStoreAt(t, path)
		x := newIndex(db, map[chain.ID]order.Source{1: chains[1]}, quietly(follow.Options{Chains: evmChains(1), Range: 50}))
		if err := x.Followers[0].CatchUp(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Fatalf("%s: catchUp: %v, want that the disk is full", when, err)
		}
		_, _, ofLocked := x.Locked(t.Context(), taker)
		_, _, ofList := x.List(t.Context(), list.Orders, list.Filter{}, 0, 1)
		_, _, _, ofDays := x.Daily(t.Context(), 0, 1)
		_, ofID := x.ByID(t.Context(), order.ID{0xff})
		_, ofSwap := x.SwapByID(t.Context(), order.ID{0xff})
		for _, err := range []error{ofLocked, ofList, ofDays, ofID, ofSwap} {
			if !errors.Is(err, ErrEmpty) {
				t.Errorf("%s: %v, %v, %v, %v, %v; want ErrEmpty of all", when, ofLocked, ofList, ofDays, ofID, ofSwap)
				break
			}
		}
		if db.Writable() == nil {
			t.Errorf("%s: nothing says that writes fail", when)
		}
		must.Do(t, db.Close())
	}
}

// smallDisk mounts a disk of the given size.
func smallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no small disk can be mounted here: %v; run as root, in a container with CAP_SYS_ADMIN", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDiskIsWaitedFor follows a chain onto a disk that fills up and is then enlarged.
func TestFullDiskIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "1100k")
	store := openStoreAt(t, filepath.Join(dir, "orders.db"))
	chains := clockworks(startOfTime, 800, 800, 1)
	x := newIndex(store, map[chain.ID]order.Source{1: chains[1]}, quietly(follow.Options{Chains: evmChains(1), Range: 50}))
	err := x.Followers[0].CatchUp(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("catchUp: %v, want that the disk is full", err)
	}
	reached := lagOf(x, 1).Indexed
	if o := stored(t, store, clockworkDeal(reached).id); o == nil {
		t.Error("what was stored cannot be read")
	}
	must.Do(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	for lagOf(x, 1).Indexed < 800 {
		must.Do(t, x.Followers[0].CatchUp(t.Context()))
	}
	straight := openStore(t)
	followAll(t, newIndex(straight, map[chain.ID]order.Source{1: chains[1]}, quietly(follow.Options{Chains: evmChains(1)})))
	if got, want := answersOf(t, store, chains), answersOf(t, straight, chains); got != want {
		t.Error("the store answers otherwise than one on a large disk")
	}
}
