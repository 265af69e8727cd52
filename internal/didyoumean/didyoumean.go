// Package didyoumean suggests the name that a misspelt one was probably meant to be.
package didyoumean

import (
	"strings"

	"github.com/agext/levenshtein"
)

// leastSimilarity is the similarity of names that differ by a letter or two, or by swapped neighbouring letters.
const leastSimilarity = 0.6

// leastBeginning is the fewest letters that count as the beginning of a longer name.
const leastBeginning = 4

// Suggest returns the continuation of an error about a name: the most similar known one, or "" if none is similar.
func Suggest(name string, known []string) string {
	nearest, most := "", 0.0
	for _, each := range known {
		similarity := levenshtein.Match(name, each, nil)
		if strings.HasPrefix(each, name) && len(name) >= leastBeginning {
			similarity = max(similarity, leastSimilarity)
		}
		if similarity >= leastSimilarity && similarity > most {
			nearest, most = each, similarity
		}
	}
	if nearest == "" {
		return ""
	}
	return "; did you mean " + nearest + "?"
}
