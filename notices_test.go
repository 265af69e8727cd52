package crossgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/internal/golden"
	"crossgate/internal/must"
)

// programs are the distributed programs, by the folder of their module and their package.
var programs = map[string]struct{ module, path string }{
	"crossgate": {".", "./cmd/crossgate"},
	"sandbox":   {"sandbox", "./cmd/sandbox"},
}

// permissive licences only require distributors to include their text. Each has a sentence that no other has.
var permissive = map[string]string{
	"Apache-2.0": "Apache License Version 2.0",
	"CC0-1.0":    "CC0 1.0 Universal",
	"Apache":     "Licensed under the Apache License, Version 2.0",
	"BSD":        "Redistribution and use in source and binary forms, with or without modification, are permitted",
	"ISC":        "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted",
	"ISC-old":    "Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted",
	"MIT":        "Permission is hereby granted, free of charge, to any person obtaining a copy of this software",
	"Unlicense":  "This is free and unencumbered software released into the public domain",
}

// singular are modules with other licences, with the note about each.
var singular = map[string]string{
	"github.com/ethereum/go-ethereum": "The head of these notices says how to relink.",
	"github.com/hashicorp/go-bexpr":   "Linked unchanged; its source is at https://github.com/hashicorp/go-bexpr.",
	"github.com/holiman/bloomfilter/v2": "The module has no licence in it. It derives from Barry Allard's bloom filter, which is under the MIT licence " +
		"(https://github.com/steakknife/bloomfilter).",
}

const noticesHead = `Third-party notices of %s

This program is licensed under the Apache License 2.0 (LICENSE). It contains the software below, each under the licence
that follows its name.

go-ethereum's library packages are under the GNU Lesser General Public License 3.0. They are linked unchanged. To link
another version of them, take the source of this program, of the version that the program prints with --version, and:

    go mod edit -replace github.com/ethereum/go-ethereum=PATH
    make build

`

// linked is a module with packages in a program, and the folders of those packages.
type linked struct {
	path, version, dir string
	packages           map[string]bool
}

// TestNoticesAreOfWhatIsLinked compares notices/*.txt with the modules of each program on every platform of a release.
func TestNoticesAreOfWhatIsLinked(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^=== (\S+ \S+)$`)
	for name, program := range programs {
		file := filepath.Join("notices", name+".txt")
		modules := linkedModules(t, program.module, program.path)
		if golden.IsUpdated() {
			must.Do(t, os.WriteFile(file, writeNotices(t, name, modules), 0o600))
		}
		text := must.Get(os.ReadFile(file))(t)
		var told, want []string
		for _, match := range heading.FindAllStringSubmatch(string(text), -1) {
			told = append(told, match[1])
		}
		for _, m := range modules {
			want = append(want, m.path+" "+m.version)
		}
		if difference := cmp.Diff(want, told); difference != "" {
			t.Errorf("%s: run go test . -run Notices -update (-linked +told):\n%s", file, difference)
		}
		if !bytes.Contains(text, []byte("GNU LESSER GENERAL PUBLIC LICENSE")) || !bytes.Contains(text, []byte("GNU GENERAL PUBLIC LICENSE")) {
			t.Errorf("%s lacks the LGPL or the GPL, which it adds to", file)
		}
	}
}

// TestLicencesOfWhatIsLinkedAreKnown fails for a module whose licence is unknown or requires more than its text.
func TestLicencesOfWhatIsLinkedAreKnown(t *testing.T) {
	for name, program := range programs {
		for _, m := range linkedModules(t, program.module, program.path) {
			isPermissive := false
			for _, file := range m.licences(t) {
				text := must.Get(os.ReadFile(file))(t)
				words := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "\n>", "\n")), " ")
				for _, sentence := range permissive {
					isPermissive = isPermissive || strings.Contains(words, sentence)
				}
			}
			if singular[m.path] == "" && !isPermissive {
				t.Errorf("%s links %s, whose licence is not known here: what does it want of who distributes it?", name, m.path)
			}
		}
	}
}

// listedOnce caches the modules of programs, by the folder of their module.
var listedOnce = make(map[string][]*linked)

// linkedModules returns the modules of a program on all platforms, sorted, with Go's own library as std.
func linkedModules(t *testing.T, module, path string) []*linked {
	t.Helper()
	if known := listedOnce[module]; known != nil {
		return known
	}
	found := make(map[string]*linked)
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"} {
		system, processor, _ := strings.Cut(platform, "/")
		list := exec.Command("go", "list", "-tags=", "-deps", "-json=ImportPath,Dir,Standard,Module", path)
		list.Dir = module
		list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list in %s: %v", module, err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				ImportPath, Dir string
				Standard        bool
				Module          *struct {
					Path, Version, Dir string
					Replace            *struct{ Version string } // without a version: a local folder
				}
			}
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if p.Standard || isOurs(p.ImportPath) || p.Module.Replace != nil && p.Module.Replace.Version == "" {
				continue
			}
			m := found[p.Module.Path]
			if m == nil {
				m = &linked{p.Module.Path, p.Module.Version, p.Module.Dir, map[string]bool{}}
				found[m.path] = m
			}
			m.packages[p.Dir] = true
		}
	}
	found["std"] = goItself(t)
	var all []*linked
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *linked) int { return strings.Compare(a.path, b.path) })
	listedOnce[module] = all
	return all
}

// goItself returns the standard library, with the minimum version of Go in go.mod: the version that built a release is
// in the program.
func goItself(t *testing.T) *linked {
	t.Helper()
	root := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOROOT").Output())(t)))
	return &linked{"std", "go", root, map[string]bool{root: true}}
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)([-._].*)?$`)

// licences returns a module's licence files: in its folder, in those of its linked packages, and in between.
func (m *linked) licences(t *testing.T) (files []string) {
	t.Helper()
	folders := map[string]bool{m.dir: true}
	for folder := range m.packages {
		for ; len(folder) > len(m.dir); folder = filepath.Dir(folder) {
			folders[folder] = true
		}
	}
	for folder := range folders {
		entries := must.Get(os.ReadDir(folder))(t)
		for _, each := range entries {
			if !each.IsDir() && licenceFile.MatchString(each.Name()) && filepath.Ext(each.Name()) != ".go" {
				files = append(files, filepath.Join(folder, each.Name()))
			}
		}
	}
	slices.Sort(files)
	return files
}

// writeNotices returns the text. A licence shared word for word by several modules appears once.
func writeNotices(t *testing.T, name string, modules []*linked) []byte {
	t.Helper()
	var out bytes.Buffer
	fmt.Fprintf(&out, noticesHead, name)
	first := make(map[string]string)
	for _, m := range modules {
		fmt.Fprintf(&out, "=== %s %s\n\n", m.path, m.version)
		files := m.licences(t)
		if note := singular[m.path]; note != "" {
			fmt.Fprintf(&out, "%s\n\n", note)
		} else if len(files) == 0 {
			t.Errorf("%s has no licence in %s", m.path, m.dir)
		}
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			terms := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			within, _ := filepath.Rel(m.dir, file)
			if where, told := first[terms]; told {
				fmt.Fprintf(&out, "--- %s: word for word as %s\n\n", within, where)
				continue
			}
			first[terms] = m.path + " " + within
			fmt.Fprintf(&out, "--- %s\n\n%s\n\n", within, terms)
		}
	}
	return out.Bytes()
}
