package proxy

import (
	"strings"
	"testing"
)

func TestProblemsAreTold(t *testing.T) {
	seen := map[int]string{}
	for _, k := range []kind{
		invalidParameters, affiliatePercentNotSet, affiliateRecipientNotSet, unsupportedTokenIn, unsupportedTokenOut,
		internalError, unsupportedChain, noSwapRoute, wouldRevert, malformedHash, malformedAddress, unknownTx, txWithoutOrder, orderOutOfRange,
		malformedOrderID, unknownOrder, unknownStatus,
		chainUnreachable, indexUnavailable, upstreamFailed, upstreamUnavailable, upstreamTimeout, unknownPath, methodNotAllowed, urlTooLong, clientLeft,
	} {
		if other, taken := seen[k.code]; taken && other != k.id {
			t.Errorf("%s has the number %d of %s", k.id, k.code, other)
		}
		seen[k.code] = k.id
		if k.text == "" || k.id != strings.ToUpper(k.id) {
			t.Errorf("%+v is incomplete", k)
		}
	}
}
