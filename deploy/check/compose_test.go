package check

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// loadCompose reads compose.yaml as Compose does: against the schema of the Compose specification, with its variables.
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
	const unasked = "collector jaeger sandbox" // their images have no program that could ask
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
