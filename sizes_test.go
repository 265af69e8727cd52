package crossgate_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// A size is a measure of a package, interface or folder of documents.
type size struct{ of, measure string }

var bounds = map[string]int{"files": 30, "lines": 3500, "methods": 6, "phrases": 0, "words": 32_000}

// stilted are phrases used instead of a noun or a plain verb, as in "%q is no hash" for "%q is not a hash".
var stilted = regexp.MustCompile(`\b(?i:tells?|told|somebody|nobody|whoever|anybody|of which)\b` +
	`|\b(?:is|are) no (?:[a-km-z]|l[a-np-z])` + // not "no longer"
	`|\bwhat (?:[a-z]+ ){0,4}(?:is|was)\b`)

// TestSizesStayWithinBounds requires packages, interfaces and documents to stay within their bounds.
func TestSizesStayWithinBounds(t *testing.T) {
	now := measureHouse(t)
	measureDocuments(t, now)
	for s, size := range now {
		if most := bounds[s.measure]; size > most {
			t.Errorf("%s has %d %s, want %d at most", s.of, size, s.measure, most)
		}
	}
}

// measureHouse measures the packages of the product. Venues have a file each, so their number is not bounded.
func measureHouse(t *testing.T) map[size]int {
	t.Helper()
	sizes, interfaces := make(map[size]int), make(map[string]*ast.InterfaceType)
	for _, file := range goFiles(t) {
		room := filepath.ToSlash(filepath.Dir(file.path))
		if top, _, _ := strings.Cut(room, "/"); slices.Contains([]string{"bench", "deploy", "examples", "tools"}, top) {
			continue
		}
		if room != "upstream/venue" {
			sizes[size{room, "files"}]++
			sizes[size{room, "lines"}] += file.positions.File(file.tree.Pos()).LineCount()
		}
		for _, group := range file.tree.Comments {
			sizes[size{room, "phrases"}] += stiltedIn(group.Text())
		}
		ast.Inspect(file.tree, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.BasicLit:
				if node.Kind == token.STRING {
					sizes[size{room, "phrases"}] += stiltedIn(node.Value)
				}
			case *ast.TypeSpec:
				if declared, isInterface := node.Type.(*ast.InterfaceType); isInterface {
					interfaces[room+"."+node.Name.Name] = declared
				}
			}
			return true
		})
	}
	for name, declared := range interfaces {
		room, _, _ := strings.Cut(name, ".")
		sizes[size{name, "methods"}] = methods(interfaces, room, declared)
	}
	return sizes
}

// methods counts an interface's methods, including those of embedded interfaces of its package.
func methods(interfaces map[string]*ast.InterfaceType, room string, declared *ast.InterfaceType) (count int) {
	for _, field := range declared.Methods.List {
		if embedded, isName := field.Type.(*ast.Ident); isName && interfaces[room+"."+embedded.Name] != nil {
			count += methods(interfaces, room, interfaces[room+"."+embedded.Name])
		}
		count += len(field.Names)
	}
	return count
}

// measureDocuments adds the phrases of every folder's documents, and the words of all documents.
func measureDocuments(t *testing.T, sizes map[size]int) {
	t.Helper()
	eachFile(t, func(path, text string) {
		if filepath.Ext(path) == ".md" {
			sizes[size{"*.md", "words"}] += len(strings.Fields(text))
		}
		if filepath.Ext(path) == ".md" || path == "proxy/openapi.yaml" {
			sizes[size{filepath.ToSlash(filepath.Dir(path)) + "/*" + filepath.Ext(path), "phrases"}] += stiltedIn(text)
		}
	})
}

// eachFile visits sources and documents.
func eachFile(t *testing.T, visit func(path, text string)) {
	t.Helper()
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			return fs.SkipDir
		}
		if !slices.Contains([]string{".go", ".md", ".yaml", ".txt", ""}, filepath.Ext(path)) || entry.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		visit(filepath.ToSlash(path), string(text))
		return err
	}))
}

func stiltedIn(text string) int {
	return len(stilted.FindAllString(strings.Join(strings.Fields(text), " "), -1))
}

var decision = regexp.MustCompile(`decisions/(\d{4})(-[a-z0-9-]+\.md)?`)

// TestDecisionsAreNumbered requires pages numbered without gaps, and correct names wherever one is mentioned.
func TestDecisionsAreNumbered(t *testing.T) {
	pages, err := filepath.Glob("docs/decisions/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %v: %v", pages, err)
	}
	for i, page := range pages {
		if want := fmt.Sprintf("docs/decisions/%04d-", i+1); !strings.HasPrefix(page, want) {
			t.Errorf("%s: want %s…", page, want)
		}
	}
	eachFile(t, func(path, text string) {
		for _, mention := range decision.FindAllStringSubmatch(text, -1) {
			is := func(page string) bool { return strings.HasPrefix(page, "docs/"+mention[0]) }
			if !slices.ContainsFunc(pages, is) {
				t.Errorf("%s mentions %s, which is not there", path, mention[0])
			}
		}
	})
}

var namedFile = regexp.MustCompile("\\]\\(([^)#:\\s]+)[)#]|`(bench/results/[\\w.-]+)`")

// TestFilesThatDocumentsNameExist checks links to files, and the results of measurements that documents mention.
func TestFilesThatDocumentsNameExist(t *testing.T) {
	eachFile(t, func(path, text string) {
		if filepath.Ext(path) != ".md" {
			return
		}
		for _, name := range namedFile.FindAllStringSubmatch(text, -1) {
			file := name[2]
			if file == "" {
				file = filepath.Join(filepath.Dir(path), name[1])
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s names %s, which is not there", path, file)
			}
		}
	})
}
