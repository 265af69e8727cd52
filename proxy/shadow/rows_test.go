package shadow

import (
	"strconv"
	"strings"
	"testing"
)

// TestManyDifferencesDoNotHideAGraveOne has more members that only the origin has than are told of one answer.
func TestManyDifferencesDoNotHideAGraveOne(t *testing.T) {
	var ours, theirs []string
	for i := range 2 * mostDifferences {
		address := `"0x` + strconv.Itoa(1_000+i) + `":{"decimals":`
		ours, theirs = append(ours, address+"6}"), append(theirs, address+`6,"domainVersion":"2"}`)
	}
	ours, theirs = append(ours, `"0x9":{"decimals":6}`), append(theirs, `"0x9":{"decimals":8}`)
	list := func(rows []string) Response { return Response{200, `{"tokens":{` + strings.Join(rows, ",") + `}}`} }
	found, err := Compare(tokensRoute, list(ours), list(theirs))
	if err != nil || len(found) != mostDifferences || found[0].Member != "tokens/0x9/decimals" || found[0].Class != Different {
		t.Errorf("%d differences, the first %+v, %v", len(found), found[0], err)
	}
}
