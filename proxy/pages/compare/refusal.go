package compare

import (
	"regexp"
	"slices"
	"strings"

	"crossgate/quote"
)

// refusal is a reason why some venues are not compared.
type refusal struct {
	Verdict string
	Why     string
	Venues  []refusedVenue
}

// refusedVenue is a venue with the message of the venue or a contract, if that is more specific than the reason.
type refusedVenue struct{ Name, Said string }

// refusalsOf groups venues by reason, the most common reason first.
func refusalsOf(asked []quote.Asked) []refusal {
	var all []refusal
	for _, one := range asked {
		verdict, isPassed := verdictWords[one.Verdict]
		if !isPassed {
			continue
		}
		reason := ""
		if one.Err != nil {
			reason = one.Err.Error()
		}
		why, venue := whyOf(reason), refusedVenue{Name: one.Venue}
		if why != reason {
			venue.Said = reason
		}
		at := slices.IndexFunc(all, func(r refusal) bool { return r.Verdict == verdict && r.Why == why })
		if at < 0 {
			at = len(all)
			all = append(all, refusal{Verdict: verdict, Why: why})
		}
		all[at].Venues = append(all[at].Venues, venue)
	}
	slices.SortStableFunc(all, func(a, b refusal) int { return len(b.Venues) - len(a.Venues) })
	return all
}

// revertedBecause precedes a contract's message (quote.ErrReverted).
const revertedBecause = "transaction would revert: "

func whyOf(reason string) string {
	if _, said, is := strings.Cut(reason, revertedBecause); is {
		return "the transaction would fail: " + revertWords(said)
	}
	for begins, why := range map[string]string{
		"no answer in time": "too slow for this comparison",
		"no route":          "no route for this swap",
	} {
		if strings.HasPrefix(reason, begins) {
			return why
		}
	}
	return reason
}

// reverts match messages by which contracts reject a swap, innermost reasons first: custom errors known to
// upstream/evm, and the texts of Uniswap's routers and of common token libraries.
var reverts = []struct {
	said *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`SwapOutcomeTooLow|(?i)too ?little ?received|TooMuchSlippage|insufficient_?output|return ?amount ?is ?not ?enough`), "the output would be below the minimum"},
	{regexp.MustCompile(`(?i)insufficient ?allowance|exceeds allowance`), "the sender has not approved the token"},
	{regexp.MustCompile(`(?i)insufficient ?balance|exceeds balance|not ?enough ?src ?funds|InsufficientToken|InsufficientETH`), "the sender's balance is too low"},
	{regexp.MustCompile(`(?i)transfer_?from_?failed|^STF$`), "the transfer from the sender failed"},
	{regexp.MustCompile(`(?i)expired|too old|deadline`), "the transaction has expired"},
	{regexp.MustCompile(`NotSupportedRouter`), "the protocol's router does not call this venue"},
	{regexp.MustCompile(`SwapFailed|CallFailed|SwapEmptyResult|FailedInnerCall|FailedCall|ExecutionFailed`), "the venue's contract failed"},
	{regexp.MustCompile(`^no reason given$`), "a contract reverted without a reason"},
}

// unnamedError matches a contract error whose selector is all that is known.
var unnamedError = regexp.MustCompile(`^error (0x[0-9a-f]{8})$`)

func revertWords(said string) string {
	for _, each := range reverts {
		if each.said.MatchString(said) {
			return each.why
		}
	}
	if unnamed := unnamedError.FindStringSubmatch(said); unnamed != nil {
		return "a contract reverted with the unknown error " + unnamed[1]
	}
	return "a contract reverted: " + said
}

// headOf returns an error's text without its causes.
func headOf(text string) string {
	head, _, _ := strings.Cut(text, ": ")
	return head
}
