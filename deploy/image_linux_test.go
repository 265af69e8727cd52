package deploy_test

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"crossgate/internal/must"
)

const nobody = 65532

// buildah builds and runs images without a daemon, in a store that is removed with the test.
type buildah struct{ root, runRoot string }

func newBuildah(t *testing.T) buildah {
	t.Helper()
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Skip("buildah is not there; Debian and Ubuntu: apt-get install buildah")
	}
	if os.Getuid() != 0 {
		t.Skip("images are built and run by root only: run the test as root")
	}
	b := buildah{filepath.Join(t.TempDir(), "images"), filepath.Join(t.TempDir(), "running")}
	t.Cleanup(func() { _ = b.command(t, "rm", "--all").Run() })
	return b
}

func (b buildah) command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	arguments = append([]string{"--root", b.root, "--runroot", b.runRoot, "--storage-driver", "vfs"}, arguments...)
	return exec.Command("buildah", arguments...)
}

// do returns the last line of buildah's output: the ID or path of what it created.
func (b buildah) do(t *testing.T, arguments ...string) string {
	t.Helper()
	command := b.command(t, arguments...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("buildah %s: %v\n%s%s", strings.Join(arguments, " "), err, out, said.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

func (b buildah) build(t *testing.T, tag string, arguments ...string) {
	t.Helper()
	b.do(t, append([]string{"build", "--isolation", "chroot", "--network", "host", "--pull-never", "--tag", tag}, arguments...)...)
}

// standIn creates an image with the name of the Dockerfile's build image, which may be out of reach: this machine's Go,
// shell and certificates. It returns what to mount into its containers.
func (b buildah) standIn(t *testing.T) (mounts []string) {
	t.Helper()
	dockerfile := readFile(t, "Dockerfile")
	_, after, _ := strings.Cut(dockerfile, "\nFROM ")
	name, _, _ := strings.Cut(after, " AS ")
	context := t.TempDir()
	for _, directory := range []string{"etc/ssl/certs", "tmp"} {
		must.Do(t, os.MkdirAll(filepath.Join(context, directory), 0o755))
	}
	for _, link := range []string{"bin", "lib", "lib64"} {
		must.Do(t, os.Symlink("usr/"+link, filepath.Join(context, link)))
	}
	const certificates = "/etc/ssl/certs/ca-certificates.crt"
	copyFile(t, certificates, filepath.Join(context, certificates))
	file := filepath.Join(t.TempDir(), "Dockerfile")
	text := "FROM scratch\nCOPY . /\nENV PATH=/goroot/bin:/usr/bin:/bin GOROOT=/goroot GOMODCACHE=/modules GOCACHE=/built GOFLAGS=-buildvcs=false"
	for _, setting := range []string{"GOPROXY", "GOSUMDB"} {
		text += " " + setting + "=" + goEnv(t, setting)
	}
	must.Do(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
	b.build(t, "docker.io/library/"+name, "--file", file, context)
	return []string{
		"--volume", "/usr:/usr:ro", "--volume", goEnv(t, "GOROOT") + ":/goroot:ro",
		"--volume", goEnv(t, "GOMODCACHE") + ":/modules", "--volume", goEnv(t, "GOCACHE") + ":/built",
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(string(must.Get(exec.CommandContext(t.Context(), "go", "env", name).Output())(t)))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, os.WriteFile(to, []byte(readFile(t, from)), 0o755))
}

// TestImagesAnswer builds both images, the one from sources with a stand-in for its build image, and runs a gateway in
// each, as the user nobody, who can write only to /data.
func TestImagesAnswer(t *testing.T) {
	b := newBuildah(t)
	b.build(t, "sources", append(b.standIn(t), "--file", "Dockerfile", "..")...)
	root := b.answers(t, "sources")
	binary := t.TempDir()
	copyFile(t, filepath.Join(root, "crossgate"), filepath.Join(binary, "crossgate"))
	copyFile(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"), filepath.Join(binary, "ca-certificates.crt"))
	for _, licence := range []string{"LICENSE", "crossgate.txt"} {
		copyFile(t, filepath.Join(root, "licenses", licence), filepath.Join(binary, licence))
	}
	must.Do(t, os.Mkdir(filepath.Join(binary, "data"), 0o755))
	b.build(t, "binary", "--file", "Dockerfile.binary", binary)
	b.answers(t, "binary")
}

// TestSandboxImageRunsTheDemonstration builds the image of a released binary and waits until it prints its links.
func TestSandboxImageRunsTheDemonstration(t *testing.T) {
	b := newBuildah(t)
	context := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(context, "crossgate-sandbox"), "./cmd/sandbox")
	build.Dir, build.Env = filepath.Join("..", "sandbox"), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	copyFile(t, "../LICENSE", filepath.Join(context, "LICENSE"))
	copyFile(t, "../notices/sandbox.txt", filepath.Join(context, "sandbox.txt"))
	must.Do(t, os.Mkdir(filepath.Join(context, "data"), 0o755))
	b.build(t, "demonstration", "--file", "Dockerfile.sandbox", context)
	container := b.do(t, "from", "--pull-never", "demonstration")
	const anywhere = "127.0.0.1:0"
	running := b.command(t, "run", "--isolation", "chroot", "--network", "host", container, "--",
		"/crossgate-sandbox", "--listen", anywhere, "--operators", anywhere, "--control", anywhere, "--block-time", "31h9m")
	var complaints bytes.Buffer
	running.Stderr = &complaints
	out := must.Get(running.StdoutPipe())(t)
	must.Do(t, running.Start())
	page := ""
	lines := bufio.NewScanner(out)
	for page == "" && lines.Scan() {
		if strings.HasPrefix(lines.Text(), "pages, and the API ") {
			page = strings.TrimSuffix(lines.Text()[strings.Index(lines.Text(), "http"):], "/")
		}
	}
	if page == "" {
		t.Fatalf("the image shows no page: %v, %s", running.Wait(), complaints.String())
	}
	checkHealth(t, "demonstration", page)
	inside := processWith(t, "/crossgate-sandbox", "31h9m")
	checkUser(t, "demonstration", inside.Pid)
	must.Do(t, inside.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, out)
	if err := running.Wait(); err != nil {
		t.Errorf("the demonstration ended with %v and said %s", err, complaints.String())
	}
}

// answers runs a gateway in a container of the image, queries it and stops it. It returns the container's root.
func (b buildah) answers(t *testing.T, image string) (root string) {
	t.Helper()
	container := b.do(t, "from", "--pull-never", image)
	root = b.do(t, "mount", container)
	checkNothingIsNobodys(t, image, root)
	file := filepath.Join(t.TempDir(), "crossgate.yaml")
	configuration := "telemetry: {admin: ''}\nindex: {path: /data/crossgate.db}\nchains: [{id: 1, endpoints: [{url: 'http://127.0.0.1:9'}]}]\n"
	must.Do(t, os.WriteFile(file, []byte(configuration), 0o644))
	running := b.command(t, "run", "--isolation", "chroot", "--network", "host", "--volume", file+":"+file+":ro", container, "--",
		"/crossgate", "serve", "--listen", "127.0.0.1:0", "--config", file)
	var said bytes.Buffer
	running.Stderr = &said
	out := must.Get(running.StdoutPipe())(t)
	must.Do(t, running.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = running.Wait()
		t.Fatalf("%s: the gateway said %q and %s: %v", image, line, said.String(), err)
	}
	inside := processWith(t, "/crossgate", file)
	t.Cleanup(func() { _ = inside.Kill() })
	checkUser(t, image, inside.Pid)
	_, url, _ := strings.Cut(strings.TrimSpace(line), " on ")
	checkHealth(t, image, url)
	if err := inside.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := running.Wait(); err != nil {
		t.Errorf("%s: the gateway ended with %v and said %s", image, err, said.String())
	}
	return root
}

func checkHealth(t *testing.T, image, url string) {
	t.Helper()
	client := http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	response, err := client.Get(url + "/healthz")
	if err != nil {
		t.Error(err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), "ok") {
		t.Errorf("%s: GET /healthz = %d %s %v, want 200", image, response.StatusCode, body, err)
	}
}

// processWith finds the process of a program by an argument that no other process has.
func processWith(t *testing.T, program, argument string) *os.Process {
	t.Helper()
	lines := must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, line := range lines {
		text, err := os.ReadFile(line)
		if err != nil || !strings.HasPrefix(string(text), program+"\x00") || !strings.Contains(string(text), "\x00"+argument+"\x00") {
			continue
		}
		return must.Get(os.FindProcess(must.Get(strconv.Atoi(filepath.Base(filepath.Dir(line))))(t)))(t)
	}
	t.Fatalf("no process is %s with %s", program, argument)
	return nil
}

// checkUser requires a process that runs as nobody without capabilities.
func checkUser(t *testing.T, image string, id int) {
	t.Helper()
	status := readFile(t, filepath.Join("/proc", strconv.Itoa(id), "status"))
	for _, want := range []string{"\nUid:\t65532\t65532\t65532\t65532\n", "\nGid:\t65532\t65532\t65532\t65532\n", "\nCapEff:\t0000000000000000\n"} {
		if !strings.Contains(status, want) {
			t.Errorf("%s: the gateway's status has no %q:\n%s", image, want, status)
		}
	}
}

// checkNothingIsNobodys requires that the image's user can change only /data: the root is as good as read-only.
func checkNothingIsNobodys(t *testing.T, image, root string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t)
		writable := owner.Uid == nobody || owner.Gid == nobody && info.Mode()&0o020 != 0 || info.Mode()&0o002 != 0
		if isData := path == filepath.Join(root, "data"); writable != isData {
			t.Errorf("%s: user %d can change %s: %v", image, nobody, strings.TrimPrefix(path, root), writable)
		}
		return nil
	}))
}
