// Package release says which crossgate a program is. Releases, images and make build set it when they link; the rest
// is as far as Go has recorded it about the checkout that the program was built in.
package release

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by the linker: -X crossgate/internal/release.version=1.2.3.
var version, commit, date string

// A Release identifies the source of a program.
type Release struct {
	Version string `json:"version"` // as 1.2.3; with commits since then 1.2.3-4-gabcdef0; devel where nothing is known
	Commit  string `json:"commit"`  // with -dirty when files had changed; unknown where nothing is known
	Date    string `json:"date"`    // of the commit, as 2026-01-31T12:00:00Z; unknown where nothing is known
	Go      string `json:"go"`
}

// Current returns that of this program.
func Current() Release {
	recorded := Release{Version: "devel", Commit: "unknown", Date: "unknown"}
	if build, known := debug.ReadBuildInfo(); known {
		recorded = recordedBy(build)
	}
	return Release{
		Version: strings.TrimPrefix(cmp.Or(version, recorded.Version), "v"),
		Commit:  cmp.Or(commit, recorded.Commit),
		Date:    cmp.Or(date, recorded.Date),
		Go:      runtime.Version(),
	}
}

// recordedBy reads what the go command has noted. It knows no version of a module that was built in its checkout
// without a tag.
func recordedBy(build *debug.BuildInfo) Release {
	var r Release
	settings := make(map[string]string)
	for _, each := range build.Settings {
		settings[each.Key] = each.Value
	}
	if build.Main.Version != "(devel)" {
		r.Version = build.Main.Version
	}
	r.Commit, r.Date = settings["vcs.revision"], settings["vcs.time"]
	if r.Commit != "" && settings["vcs.modified"] == "true" {
		r.Commit += "-dirty"
	}
	return Release{Version: cmp.Or(r.Version, "devel"), Commit: cmp.Or(r.Commit, "unknown"), Date: cmp.Or(r.Date, "unknown")}
}

// String is the release on one line.
func (r Release) String() string {
	return fmt.Sprintf("crossgate %s (commit %s of %s, %s)", r.Version, r.Commit, r.Date, r.Go)
}
