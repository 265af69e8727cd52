package gateway_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAlertsGoOffWhenTheyShould has promtool play what alerts_test.yaml tells.
func TestAlertsGoOffWhenTheyShould(t *testing.T) {
	program, deploy := promtool(t), filepath.Join("..", "..", "..", "deploy", "prometheus")
	for _, arguments := range [][]string{
		{"check", "rules", filepath.Join(deploy, "alerts.yaml")},
		{"test", "rules", filepath.Join(deploy, "alerts_test.yaml")},
		{"check", "config", "--syntax-only", filepath.Join(deploy, "prometheus.yaml")},
	} {
		if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", arguments, err, out)
		}
	}
}
