package deploy_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAlertsGoOffWhenTheyShould has promtool play what alerts_test.yaml tells.
func TestAlertsGoOffWhenTheyShould(t *testing.T) {
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not there; Debian and Ubuntu: apt-get install prometheus")
	}
	for _, arguments := range [][]string{
		{"check", "rules", filepath.Join("prometheus", "alerts.yaml")},
		{"test", "rules", filepath.Join("prometheus", "alerts_test.yaml")},
		{"check", "config", "--syntax-only", filepath.Join("prometheus", "prometheus.yaml")},
	} {
		if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", arguments, err, out)
		}
	}
}
