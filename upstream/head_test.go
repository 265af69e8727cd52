package upstream

import "testing"

// TestAMajorityOverrulesAProof has the only other endpoint prove that one is behind, when a third has been heard.
func TestAMajorityOverrulesAProof(t *testing.T) {
	t.Parallel()
	for name, heard := range map[string]bool{"two alone": false, "three": true} {
		t.Run(name, func(t *testing.T) {
			var h head
			if !h.placeBeside(-1000, 10) {
				t.Fatal("1000 blocks behind the only other one is not behind")
			}
			if heard {
				h.place(-1, 10)
			}
			if h.proveFar(); h.isOff() == heard {
				t.Errorf("it is held against the endpoint: %v, want %v", h.isOff(), !heard)
			}
		})
	}
}
