package proxy

import (
	"strings"
	"testing"
)

func TestProblemsAreTold(t *testing.T) {
	seen := map[int]string{}
	for _, k := range []Kind{
		InvalidParameters, AffiliatePercentNotSet, AffiliateRecipientNotSet, unsupportedTokenIn, unsupportedTokenOut,
		internalError, unsupportedChain, noSwapRoute, wouldRevert, MalformedHash, MalformedAddress, UnknownTx, TxWithoutOrder, OrderOutOfRange,
		MalformedOrderID, UnknownOrder, UnknownStatus,
		chainUnreachable, indexUnavailable, upstreamFailed, upstreamUnavailable, upstreamTimeout, UnknownPath, methodNotAllowed, urlTooLong, clientLeft,
	} {
		if other, taken := seen[k.code]; taken && other != k.ID {
			t.Errorf("%s has the number %d of %s", k.ID, k.code, other)
		}
		seen[k.code] = k.ID
		if k.Text == "" || k.ID != strings.ToUpper(k.ID) {
			t.Errorf("%+v is incomplete", k)
		}
	}
}
