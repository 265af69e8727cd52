package didyoumean

import "testing"

func TestSuggest(t *testing.T) {
	known := []string{"listen", "telemetry", "chains", "venues", "rate", "paraswap", "velora", "0x", "endpoints"}
	for name, want := range map[string]string{
		"listn": "listen", "telemtry": "telemetry", "chain": "chains", "Venues": "venues", "pharaswap": "paraswap", "endpoitns": "endpoints", "verola": "velora",
		"colour": "", "": "", "x": "",
	} {
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		if got := Suggest(name, known); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
}
