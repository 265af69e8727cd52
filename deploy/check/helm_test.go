package check

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the rendered manifests anew")

const (
	chartPath    = "../helm/crossgate"
	renderedPath = "../helm/rendered"
	valuesPath   = "../helm"
)

// shapes are the releases with values in deploy/helm.
var shapes = []string{"one", "three", "every"}

// mustDo ends the test on an error.
func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustGet returns the value of a call that may fail.
func mustGet[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		mustDo(t, err)
		return value
	}
}

func readValues(t *testing.T, shape string) chartutil.Values {
	t.Helper()
	return mustGet(chartutil.ReadValuesFile(filepath.Join(valuesPath, shape+".yaml")))(t)
}

// over returns the values of a shape, overridden by others.
func over(t *testing.T, shape, values string) chartutil.Values {
	t.Helper()
	return chartutil.CoalesceTables(mustGet(chartutil.ReadValues([]byte(values)))(t), readValues(t, shape))
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	return mustGet(loader.LoadDir(chartPath))(t)
}

// render returns the manifests of a release, one document per template with output.
func render(c *chart.Chart, values chartutil.Values) (string, error) {
	release := chartutil.ReleaseOptions{Name: "crossgate", Namespace: "crossgate", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return "", err
	}
	var manifests strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := strings.TrimSpace(files[path])
		if filepath.Ext(path) != ".yaml" || text == "" {
			continue
		}
		fmt.Fprintf(&manifests, "---\n# Source: %s\n%s\n", path, text)
	}
	return manifests.String(), nil
}

func TestChartIsLinted(t *testing.T) {
	for _, shape := range shapes {
		result := lint.All(chartPath, readValues(t, shape), "crossgate", true)
		for _, message := range result.Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("helm lint with %s.yaml: %s", shape, message)
			}
		}
	}
}

// TestRenderedManifestsAreTheCharts requires deploy/helm/rendered to be the chart's output. Tests of package deploy
// check those files against the gateway's needs.
func TestRenderedManifestsAreTheCharts(t *testing.T) {
	for _, shape := range shapes {
		got, err := render(loadChart(t), readValues(t, shape))
		if err != nil {
			t.Fatalf("render %s.yaml: %v", shape, err)
		}
		path := filepath.Join(renderedPath, shape+".yaml")
		if *update {
			mustDo(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want := mustGet(os.ReadFile(path))(t)
		if got != string(want) {
			t.Errorf("%s is not what the chart makes; look at the difference after: make manifests", path)
		}
	}
}

// manifest returns an empty object of a kind that the chart creates.
func manifest(kind string) any {
	switch kind {
	case "v1 ConfigMap":
		return new(core.ConfigMap)
	case "v1 Service":
		return new(core.Service)
	case "v1 ServiceAccount":
		return new(core.ServiceAccount)
	case "v1 PersistentVolumeClaim":
		return new(core.PersistentVolumeClaim)
	case "apps/v1 Deployment":
		return new(apps.Deployment)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return new(autoscaling.HorizontalPodAutoscaler)
	case "policy/v1 PodDisruptionBudget":
		return new(policy.PodDisruptionBudget)
	case "networking.k8s.io/v1 NetworkPolicy":
		return new(networking.NetworkPolicy)
	case "batch/v1 Job":
		return new(batch.Job)
	case "batch/v1 CronJob":
		return new(batch.CronJob)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return new(monitoring.ServiceMonitor)
	}
	return nil
}

// TestManifestsAreWhatKubernetesKnows decodes every manifest into the type of its kind, and rejects unknown fields and
// duplicate keys.
func TestManifestsAreWhatKubernetesKnows(t *testing.T) {
	for shape, want := range map[string][]string{
		"one": {
			"apps/v1 Deployment", "batch/v1 CronJob", "batch/v1 Job", "networking.k8s.io/v1 NetworkPolicy", "v1 ConfigMap", "v1 ConfigMap",
			"v1 PersistentVolumeClaim", "v1 PersistentVolumeClaim", "v1 Service", "v1 Service",
		},
		"three": {
			"apps/v1 Deployment", "autoscaling/v2 HorizontalPodAutoscaler", "batch/v1 Job", "monitoring.coreos.com/v1 ServiceMonitor",
			"networking.k8s.io/v1 NetworkPolicy", "policy/v1 PodDisruptionBudget", "v1 ConfigMap", "v1 ConfigMap", "v1 Service", "v1 Service",
		},
		"every": {
			"apps/v1 Deployment", "autoscaling/v2 HorizontalPodAutoscaler", "batch/v1 Job", "networking.k8s.io/v1 NetworkPolicy",
			"policy/v1 PodDisruptionBudget", "v1 ConfigMap", "v1 ConfigMap", "v1 Service", "v1 Service", "v1 ServiceAccount",
		},
	} {
		text := mustGet(render(loadChart(t), readValues(t, shape)))(t)
		got := kinds(t, shape, []byte(text))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s.yaml makes %q, want %q", shape, got, want)
		}
	}
}

func kinds(t *testing.T, shape string, text []byte) (found []string) {
	t.Helper()
	for _, document := range documents(t, string(text)) {
		var named struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		mustDo(t, yaml.Unmarshal(document, &named))
		kind := named.APIVersion + " " + named.Kind
		object := manifest(kind)
		if object == nil {
			t.Fatalf("%s.yaml makes a %s, which this test does not know", shape, kind)
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Errorf("%s of %s.yaml: %v", kind, shape, err)
		}
		found = append(found, kind)
	}
	return found
}

// documents splits the manifests of a release.
func documents(t *testing.T, text string) (all [][]byte) {
	t.Helper()
	decoder := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(text)))
	defer decoder.Close()
	buffer := make([]byte, len(text))
	for {
		n, err := decoder.Read(buffer)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Clone(buffer[:n]))
	}
}

// TestChartRefuses proves that the values' schema and the chart's own rules reject invalid releases.
func TestChartRefuses(t *testing.T) {
	for _, c := range []struct{ shape, values, want string }{
		{"one", "replicas: 2", "several gateways need a PostgreSQL"},
		{"one", "autoscaling: {enabled: true}", "several gateways need a PostgreSQL"},
		{"one", "replica: 1", "replica"},
		{"one", "config: {chains: []}", "chains"},
		{"one", "config: {listen: ':80'}", "listen"},
		{"one", "config: {index: {postgres: 'postgres://crossgate:secret@database/crossgate'}}", "postgres"},
		{"one", "secrets: {VELORA_KEY: value}", "VELORA_KEY"},
		{"one", "secrets: {ethereum-key: {secret: endpoints, key: ethereum}}", "ethereum-key"},
		{"one", "config: {cache: {shared: 'redis://crossgate:secret@cache'}}", "shared"},
		{"one", "resources: {limits: {memory: ''}}", "memory"},
		{"one", "drainSeconds: 9", "want more than the 9 s that probes.readiness takes to notice"},
		{"one", "probes: {readiness: {failureThreshold: 0}}", "failureThreshold"},
		{"one", "probes: {readiness: {httpGet: {path: /}}}", "httpGet"},
		{"three", "autoscaling: {maxReplicas: 2}", "autoscaling.maxReplicas is 2, less than the 3"},
		{"three", "autoscaling: {maxReplicas: 15}", "16 gateways, one of them while pods are replaced, open up to 6 connections of PostgreSQL each"},
		{"three", "config: {index: {connections: 4}}", "11 gateways, one of them while pods are replaced, open up to 9 connections"},
		{"three", "config: {index: {connections: 0}}", "connections"},
		{"one", "backup: {volume: {size: much}}", "size"},
		{"three", "backup: {enabled: true}", "pg_dump"},
		{"one", "upgradeCheck: {resources: {limits: {memory: ''}}}", "memory"},
		{"one", "postgres: {secret: database}", "key"},
		{"three", "postgres: {url: 'postgres://crossgate:secret@database/crossgate'}", "postgres"},
	} {
		_, err := render(loadChart(t), over(t, c.shape, c.values))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s.yaml with %s: %v, want a refusal that names %s", c.shape, c.values, err, c.want)
		}
	}
}

// TestConnectionsFitThePostgreSQL requires as many connections for reading as the database has, for the highest number
// of gateways of a release and one more, but no more than the gateway's default.
func TestConnectionsFitThePostgreSQL(t *testing.T) {
	for values, want := range map[string]int{
		"autoscaling: {maxReplicas: 3}":                                             8,
		"autoscaling: {maxReplicas: 5}":                                             8,
		"autoscaling: {maxReplicas: 6}":                                             7,
		"autoscaling: {maxReplicas: 10}":                                            3,
		"autoscaling: {maxReplicas: 14}":                                            1,
		"autoscaling: {enabled: false}":                                             8,
		"postgres: {connections: 500}":                                              8,
		"{postgres: {connections: 500}, config: {index: {connections: 32}}}":        32,
		"{autoscaling: {maxReplicas: 3}, config: {index: {connections: 2}}}":        2,
		"{autoscaling: {enabled: false}, config: {index: {connections: 17}}}":       17,
		"{autoscaling: {enabled: false}, replicas: 8, postgres: {connections: 63}}": 2,
	} {
		text, err := render(loadChart(t), over(t, "three", values))
		if err != nil {
			t.Errorf("%s: %v", values, err)
		} else if line := fmt.Sprintf("\n      connections: %d\n", want); !strings.Contains(text, line) {
			t.Errorf("%s: the gateways do not read by %d connections", values, want)
		}
	}
}

// TestAuthorityOfTheSharedCache requires an authority's certificate to be mounted where the configuration expects it.
func TestAuthorityOfTheSharedCache(t *testing.T) {
	text := mustGet(render(loadChart(t), over(t, "three", `
config: {cache: {sharedCAFile: /run/secrets/crossgate/VALKEY_CA}}
secrets: {VALKEY_CA: {secret: cache, key: ca.crt}}`)))(t)
	for _, want := range []string{
		"shared: ${VALKEY_URL}", "sharedCAFile: /run/secrets/crossgate/VALKEY_CA", "items: [{key: ca.crt, path: VALKEY_CA}]",
		"{name: secrets, mountPath: /run/secrets/crossgate, readOnly: true}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("a release with the authority of its cache has no %s", want)
		}
	}
}

// TestProbesSpeakAsTheListenersDo requires probes to use the port and scheme on which a kubelet is answered.
func TestProbesSpeakAsTheListenersDo(t *testing.T) {
	const (
		public = "tls: {certFile: /run/secrets/crossgate/TLS_CERT, keyFile: /run/secrets/crossgate/TLS_KEY}"
		mutual = "tls: {certFile: /run/secrets/crossgate/TLS_CERT, keyFile: /run/secrets/crossgate/TLS_KEY, clientCAFile: /run/secrets/crossgate/CA}"
		more   = "\nserviceMonitor: {enabled: true}"
	)
	for _, c := range []struct{ values, want, refusal string }{
		{"config: {}", "{path: /readyz, port: http, scheme: HTTP}", ""},
		{"config: {" + public + "}", "{path: /readyz, port: http, scheme: HTTPS}", ""},
		{"config: {" + mutual + "}", "{path: /readyz, port: admin, scheme: HTTP}", ""},
		{"config: {" + mutual + ", telemetry: {" + public + "}}", "{path: /readyz, port: admin, scheme: HTTPS}", ""},
		{"config: {" + mutual + ", telemetry: {" + mutual + "}}", "", "probes have no certificate"},
		{"config: {}" + more, "path: /metrics\n      scheme: http\n", ""},
		{"config: {telemetry: {" + public + "}}" + more, "path: /metrics\n      scheme: https\n", ""},
	} {
		text, err := render(loadChart(t), over(t, "one", c.values))
		switch {
		case c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)):
			t.Errorf("%s: %v, want %q", c.values, err, c.refusal)
		case c.refusal == "" && err != nil:
			t.Errorf("%s: %v", c.values, err)
		case !strings.Contains(text, c.want):
			t.Errorf("%s: the manifests have no %s", c.values, c.want)
		}
	}
}

// TestOnlyWhatTakesARestartReplacesPods changes a release's configuration, which a running gateway reloads by itself if
// it can.
func TestOnlyWhatTakesARestartReplacesPods(t *testing.T) {
	before := restart(t, "{}")
	for values, replaces := range map[string]bool{
		"config: {venues: []}":                      false,
		"config: {swap: {execution: direct}}":       false,
		"config: {limits: {loads: 9}}":              false,
		"config: {cache: {maxBytes: 512MiB}}":       true,
		"config: {index: {lookback: 9}}":            true,
		"config: {connections: {total: 9}}":         true,
		"config: {tls: {certFile: a, keyFile: b}}":  true,
		"config: {telemetry: {level: debug}}":       false,
		"config: {telemetry: {clients: none}}":      false,
		"config: {mcp: true}":                       true,
		"config: {events: {redis: 'redis://a'}}":    true,
		"config: {events: {webhooks: []}}":          false,
		"config: {passthrough: {maxBytes: 1GiB}}":   true,
		"config: {passthrough: {hosts: []}}":        false,
		"config: {telemetry: {share: 0.5}}":         true,
		"drainSeconds: 20":                          true,
		"postgres: {secret: elsewhere, key: other}": false,
		"valkey: {secret: '', key: ''}":             true,
	} {
		if got := restart(t, values) != before; got != replaces {
			t.Errorf("%s changes what replaces pods: %v, want %v", values, got, replaces)
		}
	}
}

func restart(t *testing.T, more string) string {
	t.Helper()
	text := mustGet(render(loadChart(t), over(t, "three", more)))(t)
	_, after, found := strings.Cut(text, "crossgate/restart: ")
	if !found {
		t.Fatal("the pods have no annotation crossgate/restart")
	}
	line, _, _ := strings.Cut(after, "\n")
	return line
}
