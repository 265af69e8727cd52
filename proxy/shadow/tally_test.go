package shadow

import (
	"fmt"
	"testing"
	"time"
)

func TestExamplesAreBounded(t *testing.T) {
	s := New(nil, nil)
	all := &s.tally
	start := time.Unix(0, 0)
	often := Difference{Member: "often", pattern: "often", Class: Different}
	for i := range 3 * mostExamples {
		at := start.Add(time.Duration(i) * time.Second)
		member := fmt.Sprintf("m%d", i)
		all.addMember(orderRoute, "/", Difference{Member: member, pattern: member, Class: Expected}, at)
		all.addMember(orderRoute, "/", often, at)
	}
	kept := s.Examples()
	if len(kept) != mostExamples {
		t.Fatalf("%d examples, want %d", len(kept), mostExamples)
	}
	if kept[0].Member != "often" || kept[0].Times != 3*mostExamples {
		t.Errorf("the gravest is %+v", kept[0])
	}
	for _, e := range kept {
		if e.Last.Before(start.Add((2*mostExamples - 1) * time.Second)) {
			t.Errorf("%+v is kept, and newer ones are not", e)
		}
	}
}
