package deploy_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"crossgate/config"
	"crossgate/internal/must"
)

// compose is the part of compose.yaml that refers to other files and secrets.
type compose struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image string `yaml:"image"`
	Build struct {
		Context, Dockerfile, Target string
	} `yaml:"build"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Ports       []string          `yaml:"ports"`
	ReadOnly    bool              `yaml:"read_only"`
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

func readYAML(t *testing.T, path string, out any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, path)), out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestShippedConfigurationDrains requires the example to keep serving for longer than balancers need for two checks
// (HAProxy, nginx Plus and Envoy check every 2 to 5 s by default), and to be given the time for it.
func TestShippedConfigurationDrains(t *testing.T) {
	const looks, rest = 2 * 5 * time.Second, 30 * time.Second
	c := must.Get(config.Load("crossgate.yaml"))(t)
	if c.Drain < looks {
		t.Errorf("drain: %v, want %v: requests that a balancer sends meanwhile are lost", c.Drain, looks)
	}
	unit := readFile(t, "systemd/crossgate.service")
	_, after, _ := strings.Cut(unit, "TimeoutStopSec=")
	line, _, _ := strings.Cut(after, "\n")
	if limit, err := time.ParseDuration(line); err != nil || limit < c.Drain+rest {
		t.Errorf("systemd kills it after %s, want %v", line, c.Drain+rest)
	}
}

// TestShippedConfigurationServes requires that the example depends on nothing that only its reader has: with a chain
// that does not answer, unknown hashes are 503. The chain in its comments must be one that can be added.
func TestShippedConfigurationServes(t *testing.T) {
	c := must.Get(config.Load("crossgate.yaml"))(t)
	for _, each := range c.Chains {
		for _, e := range each.Endpoints {
			at, err := url.Parse(e.URL.Reveal())
			if err != nil || at.Scheme != "https" {
				t.Errorf("chain %d is read from an endpoint that is not public: %s", each.ID, e.Name)
			}
		}
	}
	text := readFile(t, "crossgate.yaml")
	before, shown, found := strings.Cut(text, "\n  # - id: 100000099")
	shown, after, ends := strings.Cut("\n  # - id: 100000099"+shown, "\n\n")
	if !found || !ends {
		t.Fatal("no chain is shown in comments")
	}
	whole, err := config.Parse([]byte(before + strings.ReplaceAll(shown, "\n  # ", "\n  ") + "\n\n" + after))
	if err != nil || len(whole.Chains) != len(c.Chains)+1 {
		t.Errorf("with the chain that is shown there are %d chains, %v", len(whole.Chains), err)
	}
}

// TestEveryFileIsLoaded fails for a file that no test, here or elsewhere, reads.
func TestEveryFileIsLoaded(t *testing.T) {
	loaded := []string{
		"Dockerfile", "Dockerfile.binary", "Dockerfile.sandbox", "compose.yaml", "compose.crossgate.yaml", "doc.go", "otel/collector.yaml", "alertmanager/alertmanager.yaml",
		"grafana/provisioning.yaml", "grafana/dashboards.yaml", "systemd/crossgate.service",
		"balancers/haproxy.cfg", "balancers/nginx.conf", // bench, which runs both
		"balancers/ingress.yaml", // deploy/check
		"helm/rendered/one.yaml", "helm/rendered/three.yaml",
		"helm/rendered/every.yaml",
		"helm/one.yaml", "helm/three.yaml", "helm/every.yaml", // deploy/check, which loads the directory helm/crossgate whole
		"crossgate.yaml",         // package config
		"grafana/dashboard.json", // gateway, as the next three
		"prometheus/alerts.yaml", "prometheus/alerts_test.yaml", "prometheus/alerts_lasting_test.yaml", "prometheus/prometheus.yaml",
	}
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch path = filepath.ToSlash(path); {
		case err != nil:
			return err
		case path == "check", path == "helm/crossgate":
			return fs.SkipDir
		case !entry.IsDir() && !strings.HasSuffix(path, "_test.go") && !slices.Contains(loaded, path):
			t.Errorf("no test loads %s", path)
		}
		return nil
	}))
}

// TestComposeFitsItsFiles checks what Compose itself does not: deploy/check loads the file with its library.
func TestComposeFitsItsFiles(t *testing.T) {
	var c compose
	readYAML(t, "compose.yaml", &c)
	dockerfile := readFile(t, "Dockerfile")
	for name, each := range c.Services {
		if (each.Image == "") == (each.Build.Target == "") {
			t.Errorf("%s: want an image or a target to build", name)
		}
		if target := each.Build.Target; target != "" && (!strings.Contains(dockerfile, " AS "+target+"\n") || !each.ReadOnly) {
			t.Errorf("%s: the Dockerfile has no target %s, or its root is not read-only", name, target)
		}
		if each.Image != "" && !strings.Contains(each.Image, ":") {
			t.Errorf("%s: %s has no version", name, each.Image)
		}
		for _, port := range each.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: %s is not on loopback", name, port)
			}
		}
		for _, volume := range each.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			if _, named := c.Volumes[from]; named {
				continue
			}
			if _, err := os.Stat(from); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestComposeConfigurationIsValid(t *testing.T) {
	t.Setenv("POSTGRES_PASSWORD", "secret")
	t.Setenv("VALKEY_PASSWORD", "secret")
	c := must.Get(config.Load("compose.crossgate.yaml"))(t)
	if c.Listen != ":8080" || c.Telemetry.Admin != ":9464" || c.Index.Postgres.Reveal() == "" || c.Cache.Shared.Reveal() == "" {
		t.Errorf("listen %s, admin %s: compose.yaml and prometheus.yaml want 8080, 9464, PostgreSQL and Valkey", c.Listen, c.Telemetry.Admin)
	}
	var prometheus struct {
		ScrapeConfigs []struct {
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "prometheus/prometheus.yaml", &prometheus)
	if got := prometheus.ScrapeConfigs[0].StaticConfigs[0].Targets; !slices.Equal(got, []string{"gateway:9464"}) {
		t.Errorf("Prometheus asks %v", got)
	}
}

// TestCollectorJoinsWhatItNames finds undeclared receivers, processors and exporters in pipelines.
func TestCollectorJoinsWhatItNames(t *testing.T) {
	var collector struct {
		Receivers, Processors, Exporters map[string]any
		Service                          struct {
			Pipelines map[string]struct{ Receivers, Processors, Exporters []string }
		}
	}
	readYAML(t, "otel/collector.yaml", &collector)
	pipeline, there := collector.Service.Pipelines["traces"]
	if !there || len(pipeline.Receivers) == 0 || len(pipeline.Exporters) == 0 {
		t.Fatalf("traces go nowhere: %+v", collector.Service)
	}
	for _, part := range []struct {
		named    []string
		declared map[string]any
	}{{pipeline.Receivers, collector.Receivers}, {pipeline.Processors, collector.Processors}, {pipeline.Exporters, collector.Exporters}} {
		for _, name := range part.named {
			if _, known := part.declared[name]; !known {
				t.Errorf("the pipeline names %s, which is not declared", name)
			}
		}
	}
}

// TestAlertsReachAReceiver follows an alert from Prometheus to Alertmanager's routing, with amtool if it is installed.
func TestAlertsReachAReceiver(t *testing.T) {
	var prometheus struct {
		Alerting struct {
			Alertmanagers []struct {
				StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
			}
		}
	}
	readYAML(t, "prometheus/prometheus.yaml", &prometheus)
	if got := prometheus.Alerting.Alertmanagers[0].StaticConfigs[0].Targets; !slices.Equal(got, []string{"alertmanager:9093"}) {
		t.Errorf("Prometheus sends alerts to %q", got)
	}
	var manager struct {
		Route struct {
			Receiver string
			GroupBy  []string `yaml:"group_by"`
		}
		Receivers []struct{ Name string }
	}
	const path = "alertmanager/alertmanager.yaml"
	readYAML(t, path, &manager)
	if len(manager.Receivers) != 2 || !slices.Equal(manager.Route.GroupBy, []string{"alertname", "cluster", "namespace", "job"}) {
		t.Errorf("alerts are grouped by %q and go to %+v, want one for pages and one for tickets", manager.Route.GroupBy, manager.Receivers)
	}
	program, err := exec.LookPath("amtool")
	if err != nil {
		t.Skip("amtool is not there; Debian and Ubuntu: apt-get install prometheus-alertmanager")
	}
	if out, err := exec.CommandContext(t.Context(), program, "check-config", path).CombinedOutput(); err != nil {
		t.Errorf("amtool check-config: %v\n%s", err, out)
	}
	for _, severity := range []string{"page", "ticket"} {
		out, err := exec.CommandContext(t.Context(), program, "config", "routes", "test", "--config.file", path, "severity="+severity).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != severity {
			t.Errorf("an alert of severity %s goes to %q, %v", severity, got, err)
		}
	}
}

func TestGrafanaFindsItsDashboard(t *testing.T) {
	var c compose
	readYAML(t, "compose.yaml", &c)
	var providers struct {
		Providers []struct{ Options struct{ Path string } }
	}
	readYAML(t, "grafana/dashboards.yaml", &providers)
	path := providers.Providers[0].Options.Path
	if !slices.Contains(c.Services["grafana"].Volumes, "./grafana/dashboard.json:"+path+"/crossgate.json:ro") {
		t.Errorf("the dashboard is not at %s, where Grafana looks", path)
	}
	var sources struct{ Datasources []struct{ Type, URL string } }
	readYAML(t, "grafana/provisioning.yaml", &sources)
	if got := sources.Datasources[0]; got.Type != "prometheus" || got.URL != "http://prometheus:9090" {
		t.Errorf("Grafana reads %+v", got)
	}
	checkPanels(t)
}

// checkPanels requires each panel to query something and to have a place of its own, and those in the runbook to exist.
func checkPanels(t *testing.T) {
	t.Helper()
	text := readFile(t, "grafana/dashboard.json")
	var dashboard struct {
		UID    string
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W int }
			Targets []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal([]byte(text), &dashboard))
	places := make(map[[2]int]string)
	for _, panel := range dashboard.Panels {
		place := [2]int{panel.GridPos.X, panel.GridPos.Y}
		if other, taken := places[place]; taken || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("panel %q lies over %q or beyond the edge", panel.Title, other)
		}
		places[place] = panel.Title
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %q asks nothing", panel.Title)
		}
	}
	if dashboard.UID == "" || len(dashboard.Panels) < 10 {
		t.Errorf("dashboard %q has %d panels", dashboard.UID, len(dashboard.Panels))
	}
	titles := slices.Collect(maps.Values(places))
	for _, named := range regexp.MustCompile(`(?:^|[^*])\*([A-Z0-9][^*]+)\*`).FindAllStringSubmatch(readFile(t, "../docs/runbook.md"), -1) {
		if title := strings.Join(strings.Fields(named[1]), " "); !slices.Contains(titles, title) {
			t.Errorf("docs/runbook.md names the panel %q, which does not exist", title)
		}
	}
}

// TestUnitIsUnderstood lets systemd check the unit, with an existing program in it.
func TestUnitIsUnderstood(t *testing.T) {
	text := readFile(t, "systemd/crossgate.service")
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not there; Debian and Ubuntu: apt-get install systemd")
	}
	unit := filepath.Join(t.TempDir(), "crossgate.service")
	must.Do(t, os.WriteFile(unit, []byte(strings.Replace(text, "ExecStart=/usr/bin/crossgate", "ExecStart=/bin/true", 1)), 0o600))
	out, err := exec.CommandContext(t.Context(), program, "verify", "--man=no", unit).CombinedOutput()
	if err != nil || strings.Contains(string(out), unit) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	const most = "15" // tenths; docs/operations.md has the figure
	out, err = exec.CommandContext(t.Context(), program, "security", "--offline=true", "--no-pager", "--threshold="+most, unit).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security, want less than %s: %v\n%s", most, err, out)
	}
}

// TestBothImagesAreOne requires the image from a ready binary to be set up like the one built from sources.
func TestBothImagesAreOne(t *testing.T) {
	var setUps []string
	for _, path := range []string{"Dockerfile", "Dockerfile.binary"} {
		text := readFile(t, path)
		last := text[strings.LastIndex(text, "\nFROM scratch")+1:]
		var lines []string
		for line := range strings.Lines(last) {
			if first, _, _ := strings.Cut(line, " "); first != "COPY" && first != "FROM" && first != "ARG" {
				lines = append(lines, line)
			}
		}
		setUps = append(setUps, strings.Join(lines, ""))
	}
	if setUps[0] != setUps[1] || !strings.Contains(setUps[0], "USER 65532:65532\n") {
		t.Errorf("the images differ:\n%s\n%s", setUps[0], setUps[1])
	}
}

var ruleTests = []string{filepath.Join("prometheus", "alerts_test.yaml"), filepath.Join("prometheus", "alerts_lasting_test.yaml")}

// TestEveryAlertHasItsPlaceInTheRunbook requires each alert to link to a section that exists, and to have a test.
func TestEveryAlertHasItsPlaceInTheRunbook(t *testing.T) {
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert       string
				Annotations map[string]string
			}
		}
	}
	readYAML(t, "prometheus/alerts.yaml", &file)
	runbook := readFile(t, filepath.Join("..", "docs", "runbook.md"))
	provoked := ""
	for _, file := range ruleTests {
		provoked += readFile(t, file)
	}
	alerts := 0
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			alerts++
			if got, want := rule.Annotations["runbook"], "docs/runbook.md#"+strings.ToLower(rule.Alert); got != want {
				t.Errorf("%s names %q as its place in the runbook, want %s", rule.Alert, got, want)
			}
			if !strings.Contains(runbook, "\n## "+rule.Alert+"\n\n") {
				t.Errorf("docs/runbook.md has no section %s", rule.Alert)
			}
			if !strings.Contains(provoked, "alertname: "+rule.Alert+"\n        exp_alerts:\n") {
				t.Errorf("none of prometheus/*_test.yaml provokes %s", rule.Alert)
			}
		}
	}
	if alerts < 10 {
		t.Errorf("%d alerts: the test looks at nothing", alerts)
	}
}

// TestAlertsGoOffWhenTheyShould runs ruleTests with promtool.
func TestAlertsGoOffWhenTheyShould(t *testing.T) {
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not there; Debian and Ubuntu: apt-get install prometheus")
	}
	for _, arguments := range [][]string{
		{"check", "rules", filepath.Join("prometheus", "alerts.yaml")},
		append([]string{"test", "rules"}, ruleTests...),
		{"check", "config", "--syntax-only", filepath.Join("prometheus", "prometheus.yaml")},
	} {
		if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", arguments, err, out)
		}
	}
}
