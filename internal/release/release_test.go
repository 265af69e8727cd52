package release

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestReleaseIsWhatGoHasRecorded(t *testing.T) {
	revision, modified := debug.BuildSetting{Key: "vcs.revision", Value: "0a1b2c"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	at := debug.BuildSetting{Key: "vcs.time", Value: "2026-01-31T12:00:00Z"}
	for _, test := range []struct {
		name  string
		build debug.BuildInfo
		want  Release
	}{
		{"nothing", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Release{Version: "devel", Commit: "unknown", Date: "unknown"}},
		{
			"a checkout",
			debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{revision, at}},
			Release{Version: "devel", Commit: "0a1b2c", Date: at.Value},
		},
		{
			"a changed one with a tag",
			debug.BuildInfo{Main: debug.Module{Version: "v1.2.3+dirty"}, Settings: []debug.BuildSetting{revision, modified, at}},
			Release{Version: "v1.2.3+dirty", Commit: "0a1b2c-dirty", Date: at.Value},
		},
	} {
		if got := recordedBy(&test.build); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestReleaseIsWhatTheLinkerSets builds a program with the flags that releases have.
func TestReleaseIsWhatTheLinkerSets(t *testing.T) {
	program := filepath.Join(t.TempDir(), "told")
	const flags = "-X crossgate/internal/release.version=v1.2.3 -X crossgate/internal/release.commit=0a1b2c -X crossgate/internal/release.date=2026-01-31T12:00:00Z"
	build := exec.Command("go", "build", "-ldflags", flags, "-o", program, "./testdata/told")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	said, err := exec.Command(program).Output()
	want := "crossgate 1.2.3 (commit 0a1b2c of 2026-01-31T12:00:00Z, " + runtime.Version() + ")"
	if err != nil || strings.TrimSpace(string(said)) != want {
		t.Errorf("the program said %q, %v; want %q", said, err, want)
	}
}
