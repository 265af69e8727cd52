package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} by the environment variable of that name and lists those that are not set. If only NAME_FILE
// is, the value is the trimmed content of that file: secrets are often mounted as files.
func (r *report) expand(text string) (expanded string, missing []string) {
	expanded = variable.ReplaceAllStringFunc(text, func(reference string) string {
		name := reference[2 : len(reference)-1]
		value, set := os.LookupEnv(name)
		if file := os.Getenv(name + "_FILE"); !set && file != "" {
			content, err := os.ReadFile(file)
			if err != nil {
				missing = append(missing, name+" (cannot read the file in "+name+"_FILE)")
				return ""
			}
			if !slices.Contains(r.files, file) {
				r.files = append(r.files, file)
			}
			value, set = strings.TrimSpace(string(content)), true
		}
		if !set {
			missing = append(missing, name)
		}
		r.reads.WriteString("\x00" + value)
		return value
	})
	return expanded, missing
}

// hasMalformedReference reports whether ${ begins what is no reference: the text would be used as it is, in the place
// of a key.
func hasMalformedReference(text string) bool {
	return strings.Contains(variable.ReplaceAllLiteralString(text, " "), "${")
}
