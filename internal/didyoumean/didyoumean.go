// Package didyoumean suggests the name that a misspelt one was meant to be.
package didyoumean

import "github.com/agext/levenshtein"

// leastSimilarity is that of names which differ by a letter or two, and of neighbours that changed places.
const leastSimilarity = 0.65

// Suggest continues an error about a name with the most similar of the known ones; empty where none is similar.
func Suggest(name string, known []string) string {
	nearest, most := "", leastSimilarity
	for _, each := range known {
		if similarity := levenshtein.Match(name, each, nil); similarity > most {
			nearest, most = each, similarity
		}
	}
	if nearest == "" {
		return ""
	}
	return "; did you mean " + nearest + "?"
}
