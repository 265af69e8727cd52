package check

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// loadCompose loads compose.yaml as Compose does: validated against the Compose specification, with its variables.
func loadCompose(ctx context.Context, variables ...string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{"../compose.yaml"}, cli.WithProfiles([]string{"*"}), cli.WithEnv(variables))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(ctx)
}

func TestComposeUnderstandsItsFile(t *testing.T) {
	project := mustGet(loadCompose(t.Context(), "POSTGRES_PASSWORD=secret", "VALKEY_PASSWORD=secret"))(t)
	want := []string{"alertmanager", "collector", "gateway", "grafana", "jaeger", "postgresql", "prometheus", "sandbox", "valkey"}
	if got := slices.Sorted(maps.Keys(project.Services)); !slices.Equal(got, want) {
		t.Errorf("services = %q, want %q", got, want)
	}
	const unasked = "collector jaeger sandbox" // their images have no program for a check
	for name, each := range project.Services {
		if isAsked := each.HealthCheck != nil; isAsked == strings.Contains(unasked, name) {
			t.Errorf("%s has a health check: %v", name, isAsked)
		}
		for needed, how := range each.DependsOn {
			if how.Condition == types.ServiceConditionHealthy && project.Services[needed].HealthCheck == nil {
				t.Errorf("%s waits until %s is healthy, which nobody asks", name, needed)
			}
		}
	}
	if _, err := loadCompose(t.Context()); err == nil {
		t.Error("compose.yaml starts a database without a password")
	}
}

// TestIngressFitsTheChart decodes the shipped Ingresses strictly and compares them with the chart's Service. How
// ingress-nginx handles annotations cannot be tested here: their names are compared with its list.
func TestIngressFitsTheChart(t *testing.T) {
	known := []string{"proxy-connect-timeout", "proxy-read-timeout", "proxy-next-upstream", "proxy-next-upstream-tries", "proxy-body-size"}
	release := mustGet(render(loadChart(t), readValues(t, "one")))(t)
	var service core.Service
	decodeMadeBy(t, release, "service.yaml", &service)
	shipped := mustGet(os.ReadFile(filepath.Join("..", "balancers", "ingress.yaml")))(t)
	retried := map[string]bool{} // by path: whether late requests are retried
	for _, document := range documents(t, string(shipped)) {
		var ingress networking.Ingress
		mustDo(t, yaml.UnmarshalStrict(document, &ingress))
		for name := range ingress.Annotations {
			if short, is := strings.CutPrefix(name, "nginx.ingress.kubernetes.io/"); !is || !slices.Contains(known, short) {
				t.Errorf("ingress-nginx has no annotation %s", name)
			}
		}
		for _, rule := range ingress.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				retried[path.Path] = strings.Contains(ingress.Annotations["nginx.ingress.kubernetes.io/proxy-next-upstream"], "timeout")
				to := path.Backend.Service
				if to.Name != service.Name || !slices.ContainsFunc(service.Spec.Ports, func(p core.ServicePort) bool { return p.Name == to.Port.Name }) {
					t.Errorf("%s goes to %s, port %s, which the chart does not make", path.Path, to.Name, to.Port.Name)
				}
			}
		}
	}
	if len(retried) != 3 || !retried["/api/"] || !retried["/v1.0/dln/tx/"] || retried["/"] {
		t.Errorf("asked for again when they are late: %v", retried)
	}
}

// TestChartBringsTheShippedAlertsAndDashboard requires the objects to contain the files, and the operator's type to
// have every field of the rules.
func TestChartBringsTheShippedAlertsAndDashboard(t *testing.T) {
	const more = `{prometheusRule: {enabled: true, labels: {release: prometheus}}, dashboard: {enabled: true}}`
	text := mustGet(render(loadChart(t), over(t, "one", more)))(t)
	var rule monitoring.PrometheusRule
	decodeMadeBy(t, text, "prometheusrule.yaml", &rule)
	shipped := mustGet(os.ReadFile(filepath.Join("..", "prometheus", "alerts.yaml")))(t)
	var want monitoring.PrometheusRuleSpec
	mustDo(t, yaml.UnmarshalStrict(shipped, &want))
	if !reflect.DeepEqual(rule.Spec, want) || len(want.Groups) == 0 {
		t.Errorf("the rules of the chart are %+v, the shipped ones %+v", rule.Spec, want)
	}
	if rule.Labels["release"] != "prometheus" || rule.Labels["app.kubernetes.io/name"] == "" {
		t.Errorf("labels %v", rule.Labels)
	}
	var dashboard core.ConfigMap
	decodeMadeBy(t, text, "dashboard.yaml", &dashboard)
	panels := mustGet(os.ReadFile(filepath.Join("..", "grafana", "dashboard.json")))(t)
	if strings.TrimSpace(dashboard.Data["crossgate.json"]) != strings.TrimSpace(string(panels)) || !json.Valid(panels) {
		t.Error("the dashboard of the chart is not the shipped one")
	}
	if dashboard.Labels["grafana_dashboard"] != "1" {
		t.Errorf("labels %v: Grafana's sidecar does not find it", dashboard.Labels)
	}
}

// decodeMadeBy strictly decodes the output of a template.
func decodeMadeBy(t *testing.T, manifests, template string, into any) {
	t.Helper()
	_, made, found := strings.Cut(manifests, "# Source: crossgate/templates/"+template+"\n")
	if !found {
		t.Fatalf("%s makes nothing", template)
	}
	made, _, _ = strings.Cut(made, "\n---\n# Source: ")
	if err := yaml.UnmarshalStrict([]byte(made), into); err != nil {
		t.Fatalf("%s: %v", template, err)
	}
}
