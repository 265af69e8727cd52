package didyoumean

import "testing"

func TestSuggest(t *testing.T) {
	known := []string{"listen", "telemetry", "chains", "venues", "rate", "paraswap", "velora", "0x", "endpoints", "1inch", "sushiswap", "sushiswap-v2"}
	for name, want := range map[string]string{
		"listn": "listen", "telemtry": "telemetry", "chain": "chains", "Venues": "venues", "pharaswap": "paraswap", "endpoitns": "endpoints", "verola": "velora",
		"1inhc": "1inch", "sushi": "sushiswap", "suhsiswap": "sushiswap",
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
