package jsonrpc

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// meaningsText is the table of the meanings of errors; its head describes its syntax.
//
//go:embed meanings.txt
var meaningsText string

// rules are the rules of the table, and classes the classes of its meanings.
var rules, classes = readTable(meaningsText)

// rule recognises errors of a meaning.
type rule struct {
	meaning    Meaning
	conditions []string
	codes      []string // codes, and statuses or their prefixes, as written in the table
	isByWait   bool
	words      *regexp.Regexp // nil: none
	but        *regexp.Regexp // exceptions, which mean something else; nil: none
}

// readTable panics if the table cannot be parsed, which is a mistake in our own source.
func readTable(text string) (rules []rule, classes map[Meaning]Class) {
	classes = make(map[Meaning]Class)
	var groups []string // names in braces, each followed by its words
	sections := strings.Split("\n"+text, "\n[")
	for _, section := range sections[1:] {
		head, body, _ := strings.Cut(section, "]\n")
		lines := slices.DeleteFunc(strings.Split(body, "\n"), func(line string) bool { return line == "" || line[0] == '#' })
		switch head {
		case "classes":
			for _, line := range lines {
				class, meanings, _ := strings.Cut(line, " = ")
				for meaning := range strings.SplitSeq(meanings, ", ") {
					classes[Meaning(meaning)] = Class(class)
				}
			}
		case "groups":
			for _, line := range lines {
				name, words, _ := strings.Cut(line, " = ")
				groups = append(groups, "{"+name+"}", words)
			}
		default:
			rules = append(rules, readRule(strings.Split(head, "; "), lines, strings.NewReplacer(groups...)))
		}
	}
	return rules, classes
}

func readRule(head, lines []string, groups *strings.Replacer) rule {
	r := rule{meaning: Meaning(head[0]), conditions: head[1:]}
	var words, but []string
	for _, line := range lines {
		switch line = groups.Replace(line); {
		case line == "@wait":
			r.isByWait = true
		case line[0] == '@':
			r.codes = append(r.codes, line)
		case strings.HasPrefix(line, "! "):
			but = append(but, line[2:])
		default:
			words = append(words, line)
		}
	}
	if words != nil {
		r.words = regexp.MustCompile(strings.Join(words, "|"))
	}
	if but != nil {
		r.but = regexp.MustCompile(strings.Join(but, "|"))
	}
	return r
}

// fits reports whether the rule applies to an error with a text.
func (r *rule) fits(e *Error, text string) bool {
	for _, condition := range r.conditions {
		if !e.meets(condition) {
			return false
		}
	}
	if r.but != nil && r.but.MatchString(text) {
		return false
	}
	isCode := func(line string) bool {
		return line == "@code "+strconv.Itoa(e.Code) || e.status > 0 && strings.HasPrefix("@status "+strconv.Itoa(e.status), line)
	}
	return r.words != nil && r.words.MatchString(text) || slices.ContainsFunc(r.codes, isCode) || r.isByWait && e.isShort()
}

// meets reports whether the request, or its answer, meets a condition.
func (e *Error) meets(condition string) bool {
	what, of, _ := strings.Cut(condition, " ")
	switch what {
	case "deep":
		return e.depth > nearHead
	case "recent":
		return e.depth <= nearHead
	case "search":
		return slices.Contains(searches, e.method)
	case "no":
		return !slices.Contains(searches, e.method)
	case "bare":
		return e.isBare
	case "field":
		return slices.Contains(e.fields, of)
	case "method":
		return slices.Contains(strings.Fields(of), e.method)
	}
	return condition == prunedIfDeep
}

// prunedIfDeep is the condition of a rule that means Pruned if the requested block is too old to be still to come.
const prunedIfDeep = "pruned if deep"

var searches = []string{"", "eth_getLogs", "eth_newFilter", "eth_getFilterLogs", "getBlocks", "getBlocksWithLimit"}
