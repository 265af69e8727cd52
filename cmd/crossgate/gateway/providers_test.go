package gateway

import "testing"

// TestAPlanSaysWhenItIsExceeded has plans and units a day.
func TestAPlanSaysWhenItIsExceeded(t *testing.T) {
	t.Parallel()
	monthly, daily := freePlan{Provider: "X", Units: 300, Days: 30}, freePlan{Provider: "X", Units: 100, Days: 1}
	for _, test := range []struct {
		plan  freePlan
		units float64
		want  string
	}{
		{monthly, 10, "the free plan of X carries this: 100 % of it are spent by Base alone"},
		{monthly, 35, "the free plan of X is exceeded on day 9 by Base alone"},
		{daily, 25, "the free plan of X carries this: 25 % of it are spent by Base alone"},
		{daily, 400, "the free plan of X is exceeded after 6 hours of each day by Base alone"},
	} {
		if got := test.plan.verdict(test.units, "Base alone"); got != test.want {
			t.Errorf("%v units a day: %q, want %q", test.units, got, test.want)
		}
	}
}

// TestFreePlansHaveSources has each of the data.
func TestFreePlansHaveSources(t *testing.T) {
	t.Parallel()
	for _, each := range freePlans() {
		if each.Provider == "" || len(each.Hosts) == 0 || each.Units == 0 || each.Days == 0 || each.Costs["*"] == 0 || each.Source == "" || each.Seen == "" {
			t.Errorf("%+v lacks something", each)
		}
	}
}
