package jsonrpc

import (
	"regexp"
	"strings"
)

// sign is how an error is recognised. Nodes and providers mostly tell causes apart by text alone: these are words of
// go-ethereum, Erigon, Nethermind, Besu, reth, coreth, nitro, java-tron, Agave and jsonrpsee, and of large providers,
// in lower case. Codes are used in contradictory ways and count only where nobody uses them for anything else.
type sign struct {
	meaning Meaning
	words   *regexp.Regexp
	but     *regexp.Regexp // words with which it means something else; nil: none
	isOfAge bool           // of an old block it means that the block is not kept
}

// isIn reports whether a text, in lower case, bears the sign.
func (s sign) isIn(text string) bool {
	return s.words.MatchString(text) && (s.but == nil || !s.but.MatchString(text))
}

// Groups of words that several signs are made of.
const (
	denied = `(not (supported|available|allowed|enabled|implemented|whitelisted)|disabled|unsupported|unavailable)`
	blocks = `(block|slot|range|span|distance|difference|interval|window|getlogs query)`
	much   = `(limit|exceed|max(imum)?\b|too (large|wide|big|many|long|high|great|broad|far)` +
		`|greater|larger|bigger|higher|longer|wider|smaller|restrict` +
		`|up to|at most|less than|fewer|within|<=|\bover\b|allowed|only)`
	tooMuch = `(limit|exceed|max(imum)?\b|too (large|wide|big|many|long|broad)|more than|up to|at most|less than|fewer` +
		`|\bover\b|restrict|narrow|reduc|smaller)`
	counted = `(logs|results|events|entries|items)`
	service = `(app|application|project|endpoint|deployment|network|chain|blockchain|api ?key)`
	ahead   = `(above|ahead of|higher than|greater than|past) (the )?`
	planned = `(daily|monthly|day'?s|month'?s)`
)

// signs are in the order in which they count: what is said of blocks and of states before what is said of limits, since
// providers advertise their plans in any text, and limits before keys.
var signs = []sign{
	{meaning: FieldMissing, words: words(`.`)}, // by fieldWords
	{meaning: TagMissing, words: words(
		`(safe|finalized|pending|earliest) block (is )?not (found|available)`,
		`(safe|finalized|pending|earliest) is not (a )?(supported|available)`,
		`failed to get (the )?(latest )?(safe|finalized) block`, `no (safe|finalized|pending) block`,
		`\btag\b.*(not supported|unsupported|invalid|unknown)`,
		`just support tag`,
		`(invalid|unknown|unsupported) (block )?tag`,
		`malformed block ?number`,
		`unknown variant .?(safe|finalized|pending|earliest)`,
	)},
	{meaning: NotYet, words: words(
		`beyond (the )?(current|latest|head)`,
		`after last accepted`,
		`unfinalized data`,
		`(doesn't|does not) exist yet`,
		`not yet available for slot`,
		`not been reached`,
		`unsolidified`,
		`min(imum)? context slot`,
		`(in|from) the future`, `future block`,
		ahead+`(current |latest |chain )?(head|tip|block number|block height)`,
		ahead+`(current|latest|newest)( (block|slot)|$)`,
		`less than or equal to the current`,
		`invalid block range( params)?$`,
		`not yet (indexed|synced|known|processed)`, `\b(block|slot|height)\b.*\byet\b`,
		`not (currently )?canonical`,
	), but: words(`\bpruned`)},
	{meaning: MethodMissing, words: words(
		`method[^.]*?(not (found|supported|available|allowed|enabled|implemented|whitelisted)|does ?n[o']t exist|disabled`+
			`|unsupported|unavailable|blocked|restricted|requires)`,
		`(unsupported|unknown|invalid|disabled|restricted) (rpc )?method`,
		`not supported on this (network|chain)`,
		`transaction history is (not available|disabled|unavailable)`,
		`\b((eth|debug|trace|net)_|get|simulate)\w+ (is |are )?`+denied,
		`this api is (closed|disabled|unavailable)`,
		`the named method( rpc| api)? (is |are |has been )?(currently )?`+
			`(only available|deprecated|removed|denied|blocked|restricted|not |un|dis)`,
		`access to (the )?(named )?method`,
		`no such method`,
		`not implemented`,
	), but: words(`unavailable for key`, `mainnet|testnet`, `network|chain is not`, `more than`, `\b(blocks?|range)\b`)},
	{meaning: Overloaded, words: words(`long-term storage.*(try again|unreachable)`)},
	{meaning: Skipped, words: words(`slot \d+ was skipped`, `\bnull round`)},
	{meaning: Pruned, words: words(
		`missing trie node`,
		`pruned`, `pruning`, `\bpurged`, `\bdiscarded`,
		`\barchiv`, `historical`,
		`state .*(not |not|un)available`,
		`state .*not (found|stored|present)`,
		`(no|unknown|missing) state`, `failed to load state`,
		`metadata is not found`,
		`state histor`,
		`cleaned up`,
		`first available`, `lowest height`, `base height`,
		`(neither|not) stored`,
		`(retained|oldest|earliest)( available)? (block|slot|height)`,
		`history (is |has been )?(un|not )available`,
		`long-term storage`,
		`ledger jump`,
		`older than`, `too old`, `in the past\b`, `\blookbacks?\b`, `\bretention\b`,
		`proof window`,
		`suitable provider`,
		`height .*is not available`, `module does not exist on height`,
		`garbage.?collected`,
		`version does not exist`,
		`(before|prior to|below) (the )?(earliest|first|oldest|pruning|snapshot)`,
		recentBlocks,
	)},
	{meaning: NotYet, words: words(
		`unknown block`,
		`invalid blockhash`, `invalid block height`,
		`(block|header)s?\b.{0,80}not (be )?found`,
		`header for hash not found`,
		`block requested not found`,
		`(cannot|could not|unable to) (find|locate) (the )?(block|header)`,
		`no block (with|found|for)`,
		`block (is )?not available`,
		`block status not yet`,
		`blocks? .*cannot be found`,
		`could not be found`,
		`resource not found`,
	), isOfAge: true},
	{meaning: BatchLimit, words: words(
		`batch`,
		`(calls|requests) (per|in (a|one)) (single )?(request|body)`,
		`request (body |entity )?(is )?too (large|big)`,
		`got (an )?array`,
		`multiple (requests|calls)`,
	), but: words(`per (second|minute)|\brate\b`, `blocks? range`)},
	{meaning: QuotaSpent, words: words(
		planned+` .*(limit|quota|count|capacity|credit|exceed|reached|used|usage|allowance|exhaust|deplet|spent)`,
		planned+` (usage|allowance)`,
		`(per |/ ?)(day|month)\b`,
		`\btoday\b`,
		`24 ?h`,
	)},
	{meaning: QuotaSpent, words: words(
		`quota`,
		`max(imum)? usage`,
		`usage (limit|cap)`,
		`reached (the|your) (free|current|plan)`,
		`(out of|insufficient|no more|not enough|exhausted|used (up )?(all )?(your )?) ?credits?`,
		`credits? (are |is |have been |has been )?(exhausted|used up|depleted|spent)`,
		`(run|ran) out of`,
		`\btop ?up\b`,
		`recharge`,
		`(cu|account|credit) balance`,
		`past due`,
		`billing`,
		`payment required`,
	), but: words(`per (second|minute)\b`)},
	{meaning: RateLimit, words: words(
		`rate.?limit`,
		`too many (request|connection|call|concurrent)`,
		`(requests?|calls?|queries) (limit|rate)`, `(requests|calls) (per|exceed)`,
		`(per|/) ?s(ec(ond)?)?\b`, `per minute`,
		`\brps\b`, `\bqps\b`, `\bcups\b`, `allowed_rps`,
		`frequency limit`,
		`rate (has |is )?exceed`,
		`compute units`, `\bcu limit`,
		`request count exceeded`,
		`throughput`,
		`over capacity`, `capacity exceeded`,
		`throttl`,
		`lack of computing resources`, `resource ?exhausted`,
		`slow down`,
		`(requests?|calls?) too (fast|quickly|often|frequent)`,
		`concurren`,
		`number of (requests|calls)`,
		`connection limit`,
		`\bflood`,
		`^error code: 1015\b`, // Cloudflare's
	), but: words(`block range`, `per second exceeded by the range`, `larger than max`)},
	{meaning: ResultLimit, words: words(
		`(more|greater) than [\d,]+[km]? `+counted,
		`too many (results|logs|events)`,
		`max(imum)? (results|logs)`,
		`(response|payload|body|output|reply|results?|content) (size |length |set )?(is |was |are )?`+
			`(too (large|big|long)|(is )?limited|(has )?exceed|over|(should|must) not)`,
		`response (size )?(limit|cap)`,
		`(exceed\w*|over|above) .*`+
			`(response size|size of the response|number of (logs|results|events)|[\d,]+[km]? (logs|results|events))`,
		`query (timeout|timed out|duration|took too long)`,
		`logs matched`,
		`match(ing|ed) (logs|events|results)`,
		`(log|event|result) count`,
		`result set`, `(scan|query) results`,
		`too large response`, `message larger than max`,
		`[\d,]+[km]? (logs|results|events) (limit|max)`,
	), but: words(`^(eth_)?getlogs[^.]*(range|blocks)`)},
	{meaning: RangeLimit, words: words(blocks+`.*`+much, tooMuch+`.*(block|range|span|distance)`, `limit the query`)},
	{meaning: Overloaded, words: words(
		`time(d)? ?out`, `deadline exceeded`, `cancell?ed`,
		`overload`, `\b(heavy|high|much) load\b`, `\bbusy\b`, `queue (is |has )?(full|reached)`,
		`healthy`, `not ready`,
		`try again`, `retry`,
		`deprioriti`,
		`out of (memory|service)`,
		`(service|server|backend|upstream|node|resource|temporarily) (is )?unavailable`,
		`(backend|upstream|node) (is )?(offline|request failed)`,
		`cannot fulfill`,
		`(unable to|failed to|cannot|can't|could not) (complete|perform|proxy|process|forward|handle|serve|execute) `+
			`(the |this |your )?(request|call)`,
		`catching up`, `\bbehind\b`, `syncing`, `not (fully )?synced`, `bootstrapping`,
		`in progress`, `period still active`,
		`internal (server )?error`, `server error`, `crashed`, `panic`,
		`shutting down`,
		`(bad|no) (gateway|backend|upstream)`,
		`no (available|healthy|response|nodes|endpoints|providers|servers|peers)`,
		`all (backends|upstreams|nodes|providers)`,
		`maintenance`,
		`connection (refused|reset|lost|failure)`, `\b(closed|closing)\b`,
		`\beof\b`, `broken pipe`, `dial tcp`,
		`(not enough|no) (effective )?connection`,
		`^error code: (10(00|01|16|18|33)|5\d\d)\b`, // Cloudflare's
	), but: words(`unauthori[sz]ed|api.?key|denied|forbidden|blocked`)},
	{meaning: KeyRefused, words: words(
		`unauthori[sz]ed`, `api.?key`, `authenticat`, `authori[sz]ation`,
		`access denied`, `forbidden`, `not permitted`,
		`(is|are|was|been) (blocked|banned|suspended|denied)`,
		`(request|ip|access|account|origin|country|region) (blocked|banned|suspended|disabled|not allowed|denied)`,
		`not available in your (country|region|location|jurisdiction)`,
		`(invalid|missing|expired|unknown|wrong|bad) (api |access |project )?(key|token|credential|project|app)`,
		`personal token`,
		`project.?id`, `project scope`,
		`(key|token) (is )?(invalid|missing|expired|unknown|not)`,
		service+`( id| \d+)? (is |has been |was )?(not (found|supported|enabled|active)|unsupported|inactive|deactivated`+
			`|disabled|suspended|paused|expired|deleted|unknown)`,
		`(unsupported|unknown|invalid) (network|chain|blockchain)\b`,
		`not enabled for (this|your) `,
		`(free|paid|current) (plan|tier)`, `free ?tier`, `\btrial\b`, `subscription`,
		`not (on|in) (the )?(white|allow)list`, `whitelist`,
		`^error code: 10(0[5-9]|1[0-2]|20)\b`, // Cloudflare's
	)},
}

// recentBlocks is how nodes name the number of blocks that they keep.
const recentBlocks = `(?:last|latest|recent|newest|previous) ([\d,]+)(k?) (?:blocks|slots)`

func words(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile(strings.Join(alternatives, "|"))
}

// fieldWords say of a field of the parameters that it is not taken. They are looked for where the call has it.
var fieldWords = map[string]*regexp.Regexp{
	Topics: words(
		`\btopics?( \w+){0,3} (is |are )?`+denied,
		denied+`( \w+){0,3} topics?\b`,
		`(invalid|unknown) topics?\b`,
		`(exceed\w*|max(imum)?|too many|more than|at most|up to) (of )?(max(imum)? )?(\d+ )?(addresses (or|and) )?topics\b`,
		`\btopics?\b.*(expected|must be) (a )?(string|hex)`,
	),
	Addresses: words(
		`\b(multiple|several|too many|more than (one|1|\d+)) (contract )?addresses\b`,
		`\b(one|1|single) (contract )?address\b`,
		`(exceed\w*|max(imum)?|at most|up to|limit(ed)? (of|to)) (number of )?(\d+ )?(contract )?addresses\b`,
		`\baddress(es)? (array|list)s?\b[^.]*`+denied,
		`\baddress\b[^.]*(expected|must be) (a )?(string|hex)`,
	),
	Overrides: words(
		`overrides?\b[^.]*(`+denied+`|not )`,
		denied+`[^.]*overrides?\b`,
		`too many (arguments|params|parameters)`,
		`(expected|want|takes)[^.]*(1|2|two)( (arguments|params|parameters)|\b.*(got|given|found) 3)`,
		`invalid argument 2`,
		`stateoverrides?`,
	),
}

var (
	// revertWords begin what nodes say of a contract that refused. The reason after them is the contract's own text.
	revertWords = words(
		`^revert`, `execution reverted`, `\b(execution|contract|call)( was| failed:)? revert`, `contract_revert_executed`,
		`vm exception while processing`, `^vm execution error`,
		`revert opcode executed`,
		`transaction (has been )?reverted`,
	)
	// invalidWords are what execution comes to before or without a contract, the same at every node.
	invalidWords = words(
		`(insufficient|not enough) funds for (gas|transfer|intrinsic)`, `insufficient (sender )?balance for`,
		`upfront cost exceeds`, `^validate \w+ error`,
		`gas required exceeds`, `out of gas`, `intrinsic gas`, `uint64 overflow`, `not enough energy for`,
		`invalid opcode`, `stack (under|over)flow`, `invalid jump`, `max (init)?code size exceeded`, `must not begin with 0xef`,
		`write protection`, `return data out of bounds`, `max call depth exceeded`, `contract address collision`,
		`evm error:? (outof|opcodenotfound|invalid|stack|create|precompile|nonceoverflow|notactivated`+
			`|overflowpayment|statechange|call)`, // revm's reasons to halt
		`processing could not be completed due to an exception`,
		`nonce too low`, `nonce has max value`,
		`max fee per gas .*(less|lower) than`, `max priority fee per gas (higher|exceeds)`,
		`contract is not exist`, `no contract or not a valid smart contract`,
	)
	absentWords = words(
		`not (available|found|stored|present|exist|indexed)`, `unavailable`, `missing`, `out of range`,
		`no (logs|receipts|data)`,
	)
	methodWords = words(
		`\b(specific|this|that|same|single) (rpc |api )?(call|method)\b`, `\b(per|each) (rpc |api )?method\b`,
		`\bmethod('s)? (rate|rps|request)`,
	)
	limitWords = words(`limit (is |was |has been )?(reached|exceeded|exhausted)`, `exceed\w* .*limit`)
	sizeWords  = words(`gas`, `size`, `depth`, `length`, `memory`, `bytes`) // of the call itself
	hexText    = regexp.MustCompile(`^"?(reverted )?0x[0-9a-f]*"?$`)
	webPage    = regexp.MustCompile(`https?://\S+`)
)
