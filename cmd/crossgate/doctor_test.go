package main

import (
	"strings"
	"testing"

	"crossgate/cmd/crossgate/gateway"
)

// TestDoctorPrintsWhatSpendsAPlan has chains with one key, and one without.
func TestDoctorPrintsWhatSpendsAPlan(t *testing.T) {
	var out strings.Builder
	if err := printChains(&out, gateway.Diagnosis{Accounts: []gateway.AccountDiagnosis{
		{Provider: "Infura", Keyed: true, Chains: []string{"Ethereum", "Polygon"}, Verdict: []string{"carried", "rate known"}},
		{Provider: "dRPC", Chains: []string{"Base"}, Verdict: []string{"exceeded"}},
	}}); err != nil {
		t.Fatal(err)
	}
	want := "\nInfura with one key (Ethereum, Polygon): carried; rate known\ndRPC without a key (Base): exceeded\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q, want at its end %q", out.String(), want)
	}
}
