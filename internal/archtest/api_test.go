package archtest_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPublicAPI checks what other modules can use.
func TestPublicAPI(t *testing.T) {
	t.Parallel()
	packages := publicPackages(t)
	t.Run("is as written down", func(t *testing.T) { t.Parallel(); writtenDown(t, packages) })
	t.Run("has small interfaces", func(t *testing.T) { t.Parallel(); smallInterfaces(t, packages) })
	t.Run("can be named", func(t *testing.T) { t.Parallel(); nameable(t, packages) })
}

// writtenDown compares the packages with a file for each in testdata/api: names,
// signatures, members with their tags, methods, and the values of constants.
func writtenDown(t *testing.T, packages []*types.Package) {
	t.Helper()
	dir := filepath.Join("testdata", "api")
	if *update {
		require.NoError(t, os.RemoveAll(dir))
	}
	left := map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left[path] = true
		}
		if *update {
			return nil // it was removed
		}
		return err
	}))
	for _, p := range packages {
		golden := filepath.Join(dir, filepath.FromSlash(ours(p.Path()))+".txt")
		delete(left, golden)
		got := strings.Join(exports(p), "\n") + "\n"
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			continue
		}
		want, err := os.ReadFile(golden)
		if assert.NoErrorf(t, err, "%s is a new public package: review it, then -update", p.Path()) {
			assert.Equalf(t, string(want), got, "the public API of %s changed: review it, then -update", p.Path())
		}
	}
	assert.Emptyf(t, left, "of packages that are not there any more: -update")
}

// limit is the maximum number of methods of an interface that other programs
// implement or use.
const limit = 5

// largeInterfaces have more methods, for a reason.
var largeInterfaces = map[string]string{
	"provider.Caller":                      "a network that posts callbacks is read from address to event by all of them",
	"provider.GroupManager":                "groups are managed whole or not at all: a kind of line has them, or lacks the interface",
	"aiflow/flow/runtime/runtimetest.Node": "the suite of hosts drives a node by it; it is for tests of this kind only",
}

// smallInterfaces compares the interfaces and their numbers of methods with
// testdata/interfaces.txt.
func smallInterfaces(t *testing.T, packages []*types.Package) {
	t.Helper()
	large := maps.Clone(largeInterfaces)
	var list strings.Builder
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			obj := p.Scope().Lookup(name)
			face, is := obj.Type().Underlying().(*types.Interface)
			if _, declared := obj.(*types.TypeName); !is || !declared || !obj.Exported() || !face.IsMethodSet() {
				continue
			}
			full := ours(p.Path()) + "." + name
			fmt.Fprintf(&list, "%d %s\n", face.NumMethods(), full)
			if face.NumMethods() > limit {
				assert.NotEmptyf(t, large[full], "%s has %d methods: split it, or say in largeInterfaces why not", full, face.NumMethods())
				delete(large, full)
			}
		}
	}
	assert.Empty(t, large, "these are not large")
	golden := filepath.Join("testdata", "interfaces.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(list.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), list.String(), "interfaces changed: review them, then -update")
}

// nameable refuses members, parameters and results of types that other modules
// cannot name.
func nameable(t *testing.T, packages []*types.Package) {
	t.Helper()
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			if obj := p.Scope().Lookup(name); obj.Exported() {
				for _, hidden := range unnameable(obj) {
					assert.Failf(t, "a type that nobody can name", "%s.%s: %s", ours(p.Path()), name, hidden)
				}
			}
		}
	}
}

// publicPackages returns the packages that other modules can import, with their
// exported names, sorted by path. It reads the compiler's export data, and builds
// them if necessary.
func publicPackages(t *testing.T) []*types.Package {
	t.Helper()
	all := load(t, "-export")
	compiled := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(all[path].Export)
	})
	var out []*types.Package
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if name := ours(path); name == "" || all[path].Name == "main" || slices.Contains(strings.Split(name, "/"), "internal") || below(name, "examples") {
			continue
		}
		p, err := compiled.Import(path)
		require.NoError(t, err, path)
		out = append(out, p)
	}
	require.NotEmpty(t, out)
	return out
}

// exports has a line for each name, member and method that a package exports.
func exports(p *types.Package) []string {
	w := writer{pkg: p}
	for _, name := range p.Scope().Names() {
		obj := p.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		switch o := obj.(type) {
		case *types.Const:
			w.line("const %s %s = %s", name, w.name(o.Type()), o.Val().ExactString())
		case *types.Var:
			w.line("var %s %s", name, w.name(o.Type()))
		case *types.Func:
			w.line("func %s%s", name, w.signature(o))
		case *types.TypeName:
			w.declared(o)
		}
	}
	return w.lines
}

// writer writes the lines of a package.
type writer struct {
	pkg   *types.Package
	lines []string
}

func (w *writer) line(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// name returns a type as this package would write it, those of others by the paths
// of their packages.
func (w *writer) name(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == w.pkg {
			return ""
		}
		return strings.TrimPrefix(p.Path(), module+"/")
	})
}

func (w *writer) signature(f *types.Func) string { return strings.TrimPrefix(w.name(f.Type()), "func") }

// declared writes a type with its members and methods.
func (w *writer) declared(o *types.TypeName) {
	if o.IsAlias() {
		w.line("type %s = %s", o.Name(), w.name(types.Unalias(o.Type())))
		return
	}
	name := w.name(o.Type())
	switch u := o.Type().Underlying().(type) {
	case *types.Struct:
		w.line("type %s struct", name)
		w.members(u)
	case *types.Interface:
		w.line("type %s interface", name)
		w.demands(u)
		return
	default:
		w.line("type %s %s", name, w.name(u))
	}
	for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
		if f, is := m.Obj().(*types.Func); is && f.Exported() && !reached(o.Type(), m.Index()) {
			star := "*"
			if types.NewMethodSet(o.Type()).Lookup(f.Pkg(), f.Name()) != nil {
				star = ""
			}
			w.line("\tfunc (%s%s) %s%s", star, o.Name(), f.Name(), w.signature(f))
		}
	}
}

// members writes the exported members of a struct, also those of structs that
// are embedded in it under a name of their own package.
func (w *writer) members(s *types.Struct) {
	hidden := false
	for i := range s.NumFields() {
		f := s.Field(i)
		switch within, is := f.Type().Underlying().(*types.Struct); {
		case f.Exported():
			tag := s.Tag(i)
			if tag != "" {
				tag = " `" + tag + "`"
			}
			of := f.Name() + " "
			if f.Embedded() {
				of = ""
			}
			w.line("\t%s%s%s", of, w.name(f.Type()), tag)
		case f.Embedded() && is:
			w.members(within)
		default:
			hidden = true
		}
	}
	if hidden {
		w.line("\t…")
	}
}

// demands writes the methods of an interface, or the types of a constraint.
func (w *writer) demands(face *types.Interface) {
	for i := range face.NumEmbeddeds() {
		if !face.IsMethodSet() {
			w.line("\t%s", w.name(face.EmbeddedType(i)))
		}
	}
	for m := range face.Methods() {
		if m.Exported() {
			w.line("\t%s%s", m.Name(), w.signature(m))
		} else {
			w.line("\t…") // others cannot implement it
		}
	}
}

// reached reports whether a method is that of an embedded member which is listed
// separately.
func reached(t types.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if p, is := t.Underlying().(*types.Pointer); is {
			t = p.Elem()
		}
		s, is := t.Underlying().(*types.Struct)
		if !is {
			return false
		}
		if s.Field(i).Exported() {
			return true
		}
		t = s.Field(i).Type()
	}
	return false
}

// unnameable returns the unexported types of a package in the signature of an
// exported name.
func unnameable(obj types.Object) []string {
	var out []string
	var look func(where string, t types.Type)
	tuple := func(where string, vars *types.Tuple) {
		for v := range vars.Variables() {
			look(where, v.Type())
		}
	}
	look = func(where string, t types.Type) {
		switch t := t.(type) {
		case *types.Named:
			if o := t.Obj(); o.Pkg() != nil && o.Pkg() == obj.Pkg() && !o.Exported() {
				out = append(out, where+" "+o.Name())
			}
			for a := range t.TypeArgs().Types() {
				look(where, a)
			}
		case *types.Pointer:
			look(where, t.Elem())
		case *types.Slice:
			look(where, t.Elem())
		case *types.Array:
			look(where, t.Elem())
		case *types.Chan:
			look(where, t.Elem())
		case *types.Map:
			look(where, t.Key())
			look(where, t.Elem())
		case *types.Signature:
			tuple(where, t.Params())
			tuple(where, t.Results())
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() {
					look(where+"."+f.Name(), f.Type())
				}
			}
		}
	}
	look("", obj.Type())
	if name, is := obj.(*types.TypeName); is && !name.IsAlias() {
		look("", obj.Type().Underlying())
		for m := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
			if m.Obj().Exported() {
				look("."+m.Obj().Name(), m.Type())
			}
		}
	}
	return out
}
