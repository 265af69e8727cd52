package gateway

import (
	"testing"

	"crossgate/upstream"
)

// TestConditionTellsOfHeldEndpoints has operators hold a breaker, and an endpoint be behind the others of its chain.
func TestConditionTellsOfHeldEndpoints(t *testing.T) {
	g := newGateway(t, plannedConfig(t))
	g.sets.endpoint("1", "node").ForceBreaker(upstream.ForceOpen)
	found := false
	for _, service := range g.Condition(t.Context()).Services {
		for _, e := range service.Endpoints {
			isHeld := e.Name == "node"
			found = found || isHeld
			if e.IsForced != isHeld || e.OK == isHeld || isHeld && e.Breaker != "open" {
				t.Errorf("%s: held %v, asked %v, breaker %s; the one named node is held open", e.Name, e.IsForced, e.OK, e.Breaker)
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
