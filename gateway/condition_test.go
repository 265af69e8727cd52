package gateway

import (
	"testing"

	"crossgate/upstream"
)

// TestConditionHasCordonedEndpoints has an endpoint cordoned, and one behind the others of its chain.
func TestConditionHasCordonedEndpoints(t *testing.T) {
	g := newGateway(t, plannedConfig(t))
	g.Endpoint("1", "node").Cordon()
	found := false
	for _, service := range g.Condition(t.Context()).Services {
		for _, e := range service.Endpoints {
			isCordoned := e.Name == "node"
			found = found || isCordoned
			if e.OK == isCordoned || isCordoned && e.Standing != "cordoned" {
				t.Errorf("%s: %s, asked %v; the one named node is cordoned", e.Name, e.Standing, e.OK)
			}
		}
	}
	if !found {
		t.Error("the condition has no endpoint named node")
	}
	if got := shownEndpoint(upstream.Health{Head: "-19"}); got.Head != "-19" {
		t.Errorf("an endpoint that is 19 blocks behind is shown with %q", got.Head)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
