package processes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crossgate/internal/linktest"
	"crossgate/internal/must"
)

const operatorsToken = "operators-0123456789"

// freeAddress returns an address at which nothing listens at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	return must.Get(linktest.FreeAddress())(t)
}

// withOperators adds an admin listener at an address to a configuration.
func withOperators(text, address string) string {
	return strings.Replace(text, `telemetry: {admin: "127.0.0.1:0"}`,
		fmt.Sprintf("telemetry: {admin: %q, token: %q}", address, operatorsToken), 1)
}

// prometheus is a Prometheus server that scrapes gateways and evaluates the shipped rules.
type prometheus struct{ url, targets string } // targets is the file with the scrape targets

// waits match how long the shipped rules require a cause to last, which tests cannot afford. windows match the periods
// over which they look back: a minute of them is a second here.
var (
	waits   = regexp.MustCompile(`for: \d+m`)
	windows = regexp.MustCompile(`\[(\d+)([mh])\]`)
)

// hurried returns rules whose time passes sixty times as fast.
func hurried(rules string) string {
	faster := strings.NewReplacer("m]", "s]", "h]", "m]")
	return windows.ReplaceAllStringFunc(waits.ReplaceAllString(rules, "for: 1s"), faster.Replace)
}

// scrape sets the admin listeners that Prometheus scrapes, by namespace.
func (p prometheus) scrape(t *testing.T, targets map[string][]string) {
	t.Helper()
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	groups := []group{}
	for namespace, each := range targets {
		groups = append(groups, group{each, map[string]string{"namespace": namespace}})
	}
	text, err := json.Marshal(groups)
	if err == nil {
		err = errors.Join(os.WriteFile(p.targets+".new", text, 0o600), os.Rename(p.targets+".new", p.targets))
	}
	must.Do(t, err)
}

// startPrometheus scrapes admin listeners, and evaluates the hurried rules, until the test ends.
func startPrometheus(t *testing.T, targets map[string][]string) prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not there; Debian and Ubuntu: apt-get install prometheus")
	}
	dir, address := t.TempDir(), freeAddress(t)
	rules := must.Get(os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", "alerts.yaml")))(t)
	p := prometheus{"http://" + address, filepath.Join(dir, "targets.json")}
	p.scrape(t, targets)
	for name, text := range map[string]string{
		"alerts.yaml": hurried(string(rules)),
		"prometheus.yaml": "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 250ms}\nrule_files: [alerts.yaml]\n" +
			"scrape_configs:\n  - {job_name: crossgate, file_sd_configs: [{files: [targets.json], refresh_interval: 1s}]}\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	command := exec.Command(program, "--config.file", filepath.Join(dir, "prometheus.yaml"),
		"--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address, "--log.level", "warn")
	var said strings.Builder
	command.Stderr = &said
	must.Do(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("prometheus said: %s", said.String())
		}
	})
	eventually(t, "every gateway is scraped", func() (string, bool) {
		up := p.query(t, `up{job="crossgate"} == 1`)
		return fmt.Sprint(up), len(up) == len(slices.Concat(slices.Collect(maps.Values(targets))...))
	})
	return p
}

// eventually waits until done returns true, for a time that only a very busy machine needs.
func eventually(t *testing.T, what string, done func() (seen string, ok bool)) {
	t.Helper()
	const patience = 4 * time.Minute
	deadline := time.Now().Add(patience)
	for {
		seen, ok := done()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s: %s", patience, what, seen)
		}
		<-time.After(100 * time.Millisecond) // Prometheus evaluates its rules every quarter of a second
	}
}

// api calls Prometheus. It returns nothing while Prometheus starts.
func (p prometheus) api(t *testing.T, path string, out any) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, nil))(t)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusServiceUnavailable {
		return
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s %v", path, response.Status, err)
	}
}

// query evaluates an expression now and returns the numeric values.
func (p prometheus) query(t *testing.T, expression string) (values []float64) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	p.api(t, "/api/v1/query?query="+url.QueryEscape(expression), &answer)
	for _, each := range answer.Data.Result {
		text, _ := each.Value[1].(string)
		if value, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(value) {
			values = append(values, value)
		}
	}
	return values
}

// causes are the labels that identify the cause of an alert.
var causes = []string{"namespace", "instance", "crossgate_chain_id", "crossgate_endpoint", "db_system_name", "crossgate_store_pool"}

// firing returns the firing alerts with their causes.
func (p prometheus) firing(t *testing.T) (alerts []string) {
	t.Helper()
	var answer struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	p.api(t, "/api/v1/alerts", &answer)
	for _, each := range answer.Data.Alerts {
		if each.State == "firing" {
			told := each.Labels["alertname"]
			for _, label := range causes {
				told = strings.TrimSpace(told + " " + each.Labels[label])
			}
			alerts = append(alerts, told)
		}
	}
	slices.Sort(alerts)
	return alerts
}

// untilFiring waits until these alerts fire, and no others except those that may.
func (p prometheus) untilFiring(t *testing.T, may []string, want ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the alerts that fire are %v", want), func() (string, bool) {
		got := p.firing(t)
		others := slices.DeleteFunc(slices.Clone(got), func(alert string) bool { return slices.Contains(may, alert) })
		return fmt.Sprint(got), slices.Equal(others, want)
	})
}
