package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is a file that is mutated, with the types of its package.
type source struct {
	pkg  string // the folder of its package
	path string // absolute
	name string // of its package
	text []byte
	file *ast.File
	set  *token.FileSet
	info *types.Info
	in   *types.Package
}

// listed is what "go list" says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Name       string
	Export     string // the file with what it exports
	GoFiles    []string
	DepOnly    bool
	ImportMap  map[string]string
}

// load parses and checks the files of packages, which are folders of the module in
// root. Tests and generated files are not among them.
func load(ctx context.Context, root string, packages []string) ([]*source, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Name,Export,GoFiles,DepOnly,ImportMap"}
	for _, p := range packages {
		args = append(args, "./"+p)
	}
	out, err := output(ctx, root, "go", args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var mutated []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the list of packages: %w", err)
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			mutated = append(mutated, l)
		}
	}
	var all []*source
	for _, l := range mutated {
		files, err := check(root, l, exports)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// check parses the files of one package and finds their types, with the export data
// of what it imports.
func check(root string, l listed, exports map[string]string) ([]*source, error) {
	folder, err := filepath.Rel(root, l.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding package %s: %w", l.ImportPath, err)
	}
	set := token.NewFileSet()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	var sources []*source
	var files []*ast.File
	for _, name := range l.GoFiles {
		path := filepath.Join(l.Dir, name)
		text, err := os.ReadFile(path) //nolint:gosec // of the module
		if err != nil {
			return nil, fmt.Errorf("reading a file of package %s: %w", l.ImportPath, err)
		}
		file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parsing package %s: %w", l.ImportPath, err)
		}
		files = append(files, file)
		if !ast.IsGenerated(file) {
			sources = append(sources, &source{pkg: filepath.ToSlash(folder), path: path, name: l.Name, text: text, file: file, set: set, info: info})
		}
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if mapped := l.ImportMap[path]; mapped != "" {
			path = mapped
		}
		if exports[path] == "" {
			return nil, fmt.Errorf("package %s has no export data", path)
		}
		return os.Open(exports[path])
	}
	conf := types.Config{Importer: importer.ForCompiler(set, "gc", lookup)}
	in, err := conf.Check(l.ImportPath, set, files, info)
	if err != nil {
		return nil, fmt.Errorf("checking package %s: %w", l.ImportPath, err)
	}
	for _, s := range sources {
		s.in = in
	}
	return sources, nil
}

// output runs a command in a folder and returns what it prints. The error has what
// it prints to standard error.
func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the go command and test binaries
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}
