// Package didyoumean suggests the name that a misspelt one was meant to be.
package didyoumean

import (
	"strings"

	"github.com/agext/levenshtein"
)

// leastSimilarity is that of names which differ by a letter or two, and of neighbours that changed places.
const leastSimilarity = 0.6

// leastBeginning is of how many letters the beginning of a longer name is.
const leastBeginning = 4

// Suggest continues an error about a name with the most similar of the known ones; empty where none is similar.
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
