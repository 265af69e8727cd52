package gateway

import "testing"

// TestHostsThatAreNear has names and addresses that stay with their operator, and those that do not.
func TestHostsThatAreNear(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "10.1.2.3": true, "192.168.7.7": true, "fd00::5": true, "169.254.1.1": true,
		"localhost": true, "bsc-node": true, "geth.chains.svc": true, "geth.chains.svc.cluster.local": true, "node.internal": true,
		"8.8.8.8": false, "::ffff:8.8.8.8": false, "::ffff:10.0.0.1": true, "2001:4860::1": false,
		"rpc.provider.com": false, "internal.provider.com": false,
	} {
		if got := isNear(host); got != want {
			t.Errorf("isNear(%s) = %t, want %t", host, got, want)
		}
	}
}
