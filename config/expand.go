package config

import (
	"os"
	"regexp"
)

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} by the environment variable of that name and lists those that are not set.
func expand(text string) (expanded string, missing []string) {
	expanded = variable.ReplaceAllStringFunc(text, func(reference string) string {
		name := reference[2 : len(reference)-1]
		value, set := os.LookupEnv(name)
		if !set {
			missing = append(missing, name)
		}
		return value
	})
	return expanded, missing
}
