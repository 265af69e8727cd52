package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestChartBringsTheShippedAlertsAndDashboard wants the objects to hold what is in the files, and the operator's type to
// know every field of the rules.
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

// decodeMadeBy decodes what a template made, all fields of which must be known.
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
