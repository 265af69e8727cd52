package deploy_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ruleTests are what promtool plays.
var ruleTests = []string{filepath.Join("prometheus", "alerts_test.yaml"), filepath.Join("prometheus", "alerts_lasting_test.yaml")}

// TestEveryAlertHasItsPlaceInTheRunbook wants each alert to name a section that is there, and to be provoked by a test.
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

// TestAlertsGoOffWhenTheyShould has promtool play what ruleTests tell.
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
