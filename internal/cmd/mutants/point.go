package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// point is a place in the code and one change of it.
type point struct {
	id       int // in the binary; from 1
	index    int // among all points of the subject
	source   *source
	file     string // below the module
	line     int
	function string
	operator string
	text     string // what is changed
	edits    []edit
}

// key describes a point without its line, which changes often.
func (p *point) key() string {
	return fmt.Sprintf("%s %s %s: %s", p.source.pkg, p.function, p.operator, p.text)
}

// edit puts text around a part of a file, or replaces it. "$" in the text is the
// number of the mutant.
type edit struct {
	from, to      int // offsets
	rank          int // of two edits of the same part, the higher one is inside
	before, after string
	replaces      bool // before replaces the part
}

// maxText is the length of the text of a point.
const maxText = 90

// points returns all points of files, in order.
func points(files []*source) []*point {
	var all []*point
	for _, s := range files {
		f := &finder{source: s}
		for _, d := range s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				f.function = functionName(fn)
				f.walk(fn)
			}
		}
		slices.SortStableFunc(f.found, func(a, b *point) int { return cmp.Compare(a.line, b.line) })
		all = append(all, f.found...)
	}
	for i, p := range all {
		p.index = i
	}
	return all
}

// functionName returns the name of a function, after that of its receiver's type.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	x := fn.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	switch generic := x.(type) {
	case *ast.IndexExpr:
		x = generic.X
	case *ast.IndexListExpr:
		x = generic.X
	}
	if id, ok := x.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// finder finds the points of a file.
type finder struct {
	source   *source
	function string
	stack    []ast.Node // from the function to the node
	found    []*point
}

// walk finds the points below a node.
func (f *finder) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			f.stack = f.stack[:len(f.stack)-1]
			return true
		}
		if isConstant(n) {
			return false
		}
		f.stack = append(f.stack, n)
		f.node(n)
		return true
	})
}

// isConstant reports whether a node and all below it must be constant, or names
// only types.
func isConstant(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.CONST || n.Tok == token.TYPE
	case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
		return true
	}
	return false
}

// node finds the points of one node.
func (f *finder) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.comparison(n)
		f.logic(n)
		f.arithmetic(n)
	case *ast.BasicLit:
		f.number(n)
	case *ast.ReturnStmt:
		f.returns(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	}
}

// add adds a point: operator changes n by edits.
func (f *finder) add(operator string, n ast.Node, edits ...edit) {
	position := f.source.set.Position(n.Pos())
	text := strings.Join(strings.Fields(f.text(n)), " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	f.found = append(f.found, &point{
		source: f.source, file: f.source.pkg + position.Filename[strings.LastIndexAny(position.Filename, `/\`):],
		line: position.Line, function: f.function, operator: operator, text: text, edits: edits,
	})
}

// text returns the source text of a node.
func (f *finder) text(n ast.Node) string {
	return string(f.source.text[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(p token.Pos) int { return f.source.set.Position(p).Offset }

// around returns the edit that puts text around n. level orders the edits of one
// node: the higher one is outside.
func (f *finder) around(n ast.Node, level int, before, after string) edit {
	return edit{from: f.offset(n.Pos()), to: f.offset(n.End()), rank: 8*len(f.stack) - level, before: before, after: after}
}

// instead returns the edit that replaces the operator of a binary expression.
func (f *finder) instead(n *ast.BinaryExpr, text string) edit {
	at := f.offset(n.OpPos)
	return edit{from: at, to: at + len(n.Op.String()), before: text, replaces: true}
}
