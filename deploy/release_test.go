package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// release is the part of .goreleaser.yaml about the repository; goreleaser itself reads it in make release-check.
type release struct {
	Before struct{ Hooks []string }
	Builds []struct {
		ID, Main     string
		Binary       string
		Dir          string // of the module; empty: the repository's
		Env, Flags   []string
		Ldflags      []string
		Goos, Goarch []string
		ModTimestamp string `yaml:"mod_timestamp"`
	}
	Archives []struct {
		IDs   []string `yaml:"ids"`
		Files []struct{ Src string }
	}
	Sboms    []struct{ Artifacts, Cmd string }
	Signs    []struct{ Artifacts, Cmd string }
	Checksum struct{ Algorithm string }
	Dockers  []struct {
		IDs            []string `yaml:"ids"`
		Dockerfile     string
		ExtraFiles     []string `yaml:"extra_files"`
		BuildFlags     []string `yaml:"build_flag_templates"`
		ImageTemplates []string `yaml:"image_templates"`
	}
	DockerManifests []struct {
		ImageTemplates []string `yaml:"image_templates"`
	} `yaml:"docker_manifests"`
}

// TestReleaseNamesWhatIsThere follows every path and name in the release's configuration.
func TestReleaseNamesWhatIsThere(t *testing.T) {
	var r release
	readYAML(t, "../.goreleaser.yaml", &r)
	var built, images []string
	for _, build := range r.Builds {
		built = append(built, build.ID)
		if sources, err := filepath.Glob(filepath.Join("..", build.Dir, build.Main, "main.go")); err != nil || len(sources) != 1 {
			t.Errorf("build %s: there is no program %s in %q", build.ID, build.Main, build.Dir)
		}
		if !slices.Equal(build.Goos, []string{"linux", "darwin"}) || !slices.Equal(build.Goarch, []string{"amd64", "arm64"}) {
			t.Errorf("build %s is for %q on %q", build.ID, build.Goos, build.Goarch)
		}
		for _, name := range []string{"version", "commit", "date"} {
			if !strings.Contains(strings.Join(build.Ldflags, " "), "-X crossgate/internal/release."+name+"={{ .") {
				t.Errorf("build %s is not told its %s: %q", build.ID, name, build.Ldflags)
			}
		}
		if !slices.Contains(build.Env, "CGO_ENABLED=0") || !slices.Contains(build.Flags, "-trimpath") || build.ModTimestamp != "{{ .CommitTimestamp }}" {
			t.Errorf("build %s is not static or not the same each time: %+v", build.ID, build)
		}
	}
	for _, archive := range r.Archives {
		for _, id := range archive.IDs {
			if !slices.Contains(built, id) {
				t.Errorf("an archive has build %s, which is not there", id)
			}
		}
		for _, file := range archive.Files {
			if found, err := filepath.Glob(filepath.Join("..", file.Src)); err != nil || len(found) == 0 {
				t.Errorf("an archive has %s, which is not there", file.Src)
			}
		}
		for _, wanted := range []string{"LICENSE", "notices/*.txt"} {
			if !slices.ContainsFunc(archive.Files, func(f struct{ Src string }) bool { return f.Src == wanted }) {
				t.Errorf("an archive lacks %s", wanted)
			}
		}
	}
	for _, docker := range r.Dockers {
		images = append(images, docker.ImageTemplates...)
		checkReleasedImage(t, docker.Dockerfile, docker.BuildFlags, docker.ExtraFiles, r.Before.Hooks)
		for _, build := range r.Builds {
			text, err := os.ReadFile(filepath.Join("..", docker.Dockerfile))
			if slices.Contains(docker.IDs, build.ID) && (err != nil || !strings.Contains(string(text), "\nCOPY "+build.Binary+" /")) {
				t.Errorf("%s has not the program %s: %v", docker.Dockerfile, build.Binary, err)
			}
		}
	}
	if len(r.Archives) == 0 || len(r.Sboms) == 0 || r.Checksum.Algorithm != "sha256" || len(images) == 0 {
		t.Errorf("a release has %d archives, %d lists of contents, checksums by %q and images %q", len(r.Archives), len(r.Sboms), r.Checksum.Algorithm, images)
	}
	if len(r.Signs) != 1 || r.Signs[0].Artifacts != "checksum" || r.Signs[0].Cmd != "cosign" {
		t.Errorf("a release is signed by %+v, want its checksums by cosign", r.Signs)
	}
	var announced []string
	for _, manifest := range r.DockerManifests {
		announced = append(announced, manifest.ImageTemplates...)
	}
	if !slices.Equal(announced, images) {
		t.Errorf("manifests have the images %q, built are %q", announced, images)
	}
}

// workflow is the part of a file of .github/workflows about the repository.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Steps []struct{ Run, Uses string }
	}
}

// TestWorkflowsRunWhatIsThere follows each command of continuous integration.
func TestWorkflowsRunWhatIsThere(t *testing.T) {
	makefile := readFile(t, "../Makefile")
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("workflows: %q, %v", files, err)
	}
	for _, file := range files {
		var w workflow
		readYAML(t, file, &w)
		for name, job := range w.Jobs {
			for _, step := range job.Steps {
				command, argument, _ := strings.Cut(strings.TrimSpace(step.Run), " ")
				if command == "make" && !strings.Contains(makefile, "\n"+argument+":") {
					t.Errorf("%s: job %s makes %s, which the Makefile has not", file, name, argument)
				}
				if _, err := os.Stat(filepath.Join("..", command)); strings.HasPrefix(command, ".ci/") && err != nil {
					t.Errorf("%s: job %s: %v", file, name, err)
				}
			}
		}
	}
}

// TestReleasesAreAttestedAndPublishTheClient checks the release workflow: attestation needs an identity token, and the
// package of clients/typescript has the documented name and the tag's version.
func TestReleasesAreAttestedAndPublishTheClient(t *testing.T) {
	var w workflow
	readYAML(t, "../.github/workflows/release.yml", &w)
	for _, right := range []string{"id-token", "attestations"} {
		if w.Permissions[right] != "write" {
			t.Errorf("the workflow lacks the permission %s", right)
		}
	}
	steps := ""
	for _, step := range w.Jobs["release"].Steps {
		steps += step.Uses + "\n" + step.Run + "\n"
	}
	for _, wanted := range []string{"sigstore/cosign-installer@", "actions/attest-build-provenance@", "make publish-client\n"} {
		if !strings.Contains(steps, wanted) {
			t.Errorf("a release is made without %s", wanted)
		}
	}
	if !strings.Contains(readFile(t, "../Makefile"), "npm version --no-git-tag-version \"$(VERSION:v%=%)\"") {
		t.Error("the client is published without the tag's version")
	}
	var manifest struct {
		Name, Version string
		Private       bool
		Files         []string
		Dependencies  map[string]string
	}
	readYAML(t, "../clients/typescript/package.json", &manifest)
	if manifest.Name != "crossgate-client" || manifest.Version != "0.0.0" || manifest.Private || len(manifest.Dependencies) > 0 || !slices.Equal(manifest.Files, []string{"dist"}) {
		t.Errorf("the client's package is %+v", manifest)
	}
}

// checkReleasedImage requires the files that a Dockerfile copies to be what the hooks create, in the right folder.
func checkReleasedImage(t *testing.T, dockerfile string, flags, beside, hooks []string) {
	t.Helper()
	text := readFile(t, filepath.Join("..", dockerfile))
	folder := ""
	for _, flag := range flags {
		if value, found := strings.CutPrefix(flag, "--build-arg=BESIDE="); found {
			folder = value
		}
	}
	if !strings.Contains(text, "\nARG BESIDE=") || !slices.Equal(beside, []string{folder}) {
		t.Errorf("%s is told of the folder %q, and gets %q", dockerfile, folder, beside)
	}
	for _, wanted := range regexp.MustCompile(`\$\{BESIDE\}/(\S+)`).FindAllStringSubmatch(text, -1) {
		made := func(hook string) bool {
			words := strings.Fields(hook)
			return words[len(words)-1] == folder+"/"+wanted[1] ||
				words[len(words)-1] == folder+"/" && slices.ContainsFunc(words, func(w string) bool { return filepath.Base(w) == wanted[1] })
		}
		if !slices.ContainsFunc(hooks, made) {
			t.Errorf("nothing makes %s/%s before %s is built", folder, wanted[1], dockerfile)
		}
	}
}
