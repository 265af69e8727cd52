// Package release identifies the version of a program. Releases, images and make build set it at link time; anything
// missing is what Go recorded about the checkout that the program was built in.
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
	Version string `json:"version"` // such as 1.2.3; 1.2.3-4-gabcdef0 with commits since then; devel if unknown
	Commit  string `json:"commit"`  // with -dirty if files had changed; unknown if not recorded
	Date    string `json:"date"`    // of the commit, such as 2026-01-31T12:00:00Z; unknown if not recorded
	Go      string `json:"go"`
}

// Current returns the release of this program.
func Current() Release {
	build, _ := debug.ReadBuildInfo()
	recorded := recordedBy(cmp.Or(build, new(debug.BuildInfo)))
	return Release{
		Version: strings.TrimPrefix(cmp.Or(version, recorded.Version), "v"),
		Commit:  cmp.Or(commit, recorded.Commit),
		Date:    cmp.Or(date, recorded.Date),
		Go:      runtime.Version(),
	}
}

// recordedBy returns what the go command recorded, which has no version of a module built in its checkout without a
// tag.
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

// String formats the release on one line.
func (r Release) String() string {
	return fmt.Sprintf("crossgate %s (commit %s of %s, %s)", r.Version, r.Commit, r.Date, r.Go)
}
