package jsonrpc

import (
	"regexp"
	"strconv"
	"strings"
)

// Providers tell how many blocks a search may span, each in its own words: those of Alchemy, Infura, QuickNode,
// Ankr, BlockPI, dRPC, PublicNode, OnFinality, Cloudflare, Blast, and of reth, Besu, coreth, Frontier and FEVM.
// The first that fits counts. Numbers of results, as in "returned more than 10000 results", are none of blocks.
var spanLimits = []*regexp.Regexp{
	regexp.MustCompile(`(?:limited|restricted) to (?:a |an |0 ?- ?)?([\d,]+)(k?)(?: blocks?)?[ -]*range`),
	regexp.MustCompile(`limited to (?:a |an |0 ?- ?)?([\d,]+)(k?) blocks`),
	regexp.MustCompile(`up to (?:a |an )?([\d,]+)(k?) blocks? range`),
	regexp.MustCompile(`max(?:imum)? (?:allowed )?block range(?: is|:| of)? ?([\d,]+)(k?)`),
	regexp.MustCompile(`block range .*?max(?:imum)?(?: is(?: set to)?|:| of)? ?([\d,]+)(k?)\b`),
	regexp.MustCompile(`(?:range|blocks) .*?maximum is set to ([\d,]+)(k?)\b`),
	regexp.MustCompile(`range is too (?:large|wide),? max(?:imum)? is ([\d,]+)(k?)\b`),
	regexp.MustCompile(`ranges? (?:over|above|larger than|greater than) ([\d,]+)(k?) blocks`),
	regexp.MustCompile(`block range (?:greater than|exceeds) ([\d,]+)(k?)\b`),
	regexp.MustCompile(`range allowed for your plan \([\d,]+ > ([\d,]+)(k?)\)`),
	regexp.MustCompile(`exceeds? (?:the )?(?:maximum|limit) of ([\d,]+)(k?) blocks`),
}

// What would fit this time, which another part of the chain may not.
var (
	hexRange     = regexp.MustCompile(`\[0x([0-9a-f]+), ?0x([0-9a-f]+)\]`)
	decimalRange = regexp.MustCompile(`retry with the range (\d+)-(\d+)`)
)

// SpanLimit returns how many blocks the endpoint searches at once, if the error tells.
func (e *Error) SpanLimit() (blocks uint64, told bool) {
	message := strings.ToLower(e.Message)
	for _, words := range spanLimits {
		if found := words.FindStringSubmatch(message); found != nil {
			return count(found[1], found[2])
		}
	}
	return 0, false
}

// FittingSpan returns how many blocks of those that were asked for would have been few enough, if the error
// tells.
func (e *Error) FittingSpan() (blocks uint64, told bool) {
	message := strings.ToLower(e.Message)
	base, found := 16, hexRange.FindStringSubmatch(message)
	if found == nil {
		base, found = 10, decimalRange.FindStringSubmatch(message)
	}
	if found == nil {
		return 0, false
	}
	from, fromErr := strconv.ParseUint(found[1], base, 63)
	to, toErr := strconv.ParseUint(found[2], base, 63)
	if fromErr != nil || toErr != nil || to < from {
		return 0, false
	}
	return to - from + 1, true
}

// count reads a number as people write it: 10,000 or 10k.
func count(digits, thousands string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.ReplaceAll(digits, ",", ""), 10, 40)
	if thousands != "" {
		n *= 1000
	}
	return n, err == nil && n > 0
}
