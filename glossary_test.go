package crossgate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// retired is a word of the glossary's "not" column.
type retired struct {
	word    string
	instead string
	pattern *regexp.Regexp // in strings; nil: the word is an identifier
}

// TestRetiredWordsStayOut looks for the words of the glossary's "not" column in every Go file except tests.
func TestRetiredWordsStayOut(t *testing.T) {
	words := readGlossary(t)
	for _, file := range goFiles(t) {
		ast.Inspect(file.tree, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				for _, w := range words {
					if w.pattern == nil && node.Name == w.word {
						t.Errorf("%s: identifier %s: say %s (docs/glossary.md)", file.at(node), w.word, w.instead)
					}
				}
			case *ast.BasicLit:
				if node.Kind != token.STRING {
					break
				}
				for _, w := range words {
					if w.pattern != nil && w.pattern.MatchString(node.Value) {
						t.Errorf("%s: a text says %q: say %s (docs/glossary.md)", file.at(node), w.word, w.instead)
					}
				}
			}
			return true
		})
	}
}

// TestTypeNamesHaveOneMeaning proves that each of these words is a type of at most one package.
func TestTypeNamesHaveOneMeaning(t *testing.T) {
	declared := make(map[string]map[string]string) // by name and package: a place
	for _, name := range strings.Fields("question answer offer outcome account entry reading plan lease verdict proof flight") {
		declared[name] = make(map[string]string)
	}
	for _, file := range goFiles(t) {
		for _, declaration := range file.tree.Decls {
			general, isGeneral := declaration.(*ast.GenDecl)
			if !isGeneral || general.Tok != token.TYPE {
				continue
			}
			for _, spec := range general.Specs {
				name := spec.(*ast.TypeSpec).Name
				if places, isWatched := declared[strings.ToLower(name.Name)]; isWatched {
					places[filepath.Dir(file.path)] = file.at(name)
				}
			}
		}
	}
	for name, places := range declared {
		if len(places) < 2 {
			continue
		}
		var all []string
		for _, place := range places {
			all = append(all, place)
		}
		slices.Sort(all)
		t.Errorf("%s is a type of %d packages (%s): keep one, name the others for what they are", name, len(places), strings.Join(all, ", "))
	}
}

var parentheses = regexp.MustCompile(`\([^)]*\)`)

// readGlossary returns the words of the "not" column: identifiers in backticks, other words for strings.
func readGlossary(t *testing.T) (words []retired) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("docs", "glossary.md")))(t)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[3]) == "not" {
			continue
		}
		instead := strconv.Quote(strings.TrimSpace(cells[1]))
		for word := range strings.SplitSeq(parentheses.ReplaceAllString(cells[3], ""), ",") {
			word = strings.TrimSpace(word)
			identifier, isIdentifier := strings.CutPrefix(word, "`")
			switch {
			case isIdentifier:
				words = append(words, retired{word: strings.TrimSuffix(identifier, "`"), instead: instead})
			case word != "":
				pattern := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word) + `\b`)
				words = append(words, retired{word, instead, pattern})
			}
		}
	}
	const fewest = 50
	if len(words) < fewest {
		t.Fatalf("the glossary has %d retired words, want %d at least: is it read right?", len(words), fewest)
	}
	return words
}

// goFile is a parsed Go file of the module, not a test.
type goFile struct {
	path      string
	tree      *ast.File
	positions *token.FileSet
}

func (f goFile) at(node ast.Node) string { return f.positions.Position(node.Pos()).String() }

// goFiles parses every Go file of the module except tests and the sandbox.
func goFiles(t *testing.T) (files []goFile) {
	t.Helper()
	positions := token.NewFileSet()
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "testdata", "sandbox"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		files = append(files, goFile{path, tree, positions})
		return err
	}))
	return files
}
