package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strconv"
)

// The operators, as survivors.txt names them.
const (
	opNegate   = "negate"   // a condition, or a comparison
	opBoundary = "boundary" // < becomes <=
	opLogic    = "logic"    // && becomes ||
	opMath     = "math"     // + becomes -
	opNumber   = "number"   // 1 becomes 2
	opBool     = "bool"     // return true becomes return false
	opError    = "error"    // return err becomes return nil
	opRemove   = "remove"   // a statement that is a call, an assignment, a send or i++
)

// comparison negates a comparison, and moves its boundary.
func (f *finder) comparison(n *ast.BinaryExpr) {
	boundary := map[token.Token]string{token.LSS: "Less", token.LEQ: "LessEqual", token.GTR: "More", token.GEQ: "MoreEqual"}[n.Op]
	if boundary == "" && n.Op != token.EQL && n.Op != token.NEQ || f.constant(n) {
		return
	}
	f.add(opNegate, n, f.around(n, 1, "((", ") != mutantOn($))"))
	if boundary != "" && f.basic(n.X, types.IsOrdered) && f.basic(n.Y, types.IsOrdered) {
		f.add(opBoundary, n, f.around(n, 0, "mutant"+boundary+"($, ", ")"), f.instead(n, ","))
	}
}

// logic swaps && and ||. By De Morgan's law, a || b is the opposite of
// !a && !b: each operand is there once and is evaluated as before.
func (f *finder) logic(n *ast.BinaryExpr) {
	if n.Op != token.LAND && n.Op != token.LOR || f.constant(n) {
		return
	}
	if f.isBool(n.X) && f.isBool(n.Y) {
		const is = ") != mutantOn($))"
		f.add(opLogic, n, f.around(n, 2, "((", is), f.around(n.X, 1, "((", is), f.around(n.Y, 1, "((", is))
	}
	f.condition(n.X)
	f.condition(n.Y)
}

// condition negates a condition that is not made of others.
func (f *finder) condition(n ast.Expr) {
	for {
		paren, ok := n.(*ast.ParenExpr)
		if !ok {
			break
		}
		n = paren.X
	}
	if n == nil || !f.isBool(n) || f.constant(n) {
		return
	}
	if _, ok := n.(*ast.BinaryExpr); !ok {
		f.add(opNegate, n, f.around(n, 1, "((", ") != mutantOn($))"))
	}
}

// arithmetic swaps + and -, and * and /.
func (f *finder) arithmetic(n *ast.BinaryExpr) {
	name := map[token.Token]string{token.ADD: "Plus", token.SUB: "Minus", token.MUL: "Times", token.QUO: "Divided", token.REM: "Modulo"}[n.Op]
	number := types.IsInteger | types.IsFloat
	if name != "" && !f.constant(n) && f.basic(n.X, number) && f.basic(n.Y, number) {
		f.add(opMath, n, f.around(n, 0, "mutant"+name+"($, ", ")"), f.instead(n, ","))
	}
}

// number adds one to an integer, where it may be variable. The length and capacity
// that make is given are no more than hints.
func (f *finder) number(n *ast.BasicLit) {
	if n.Kind != token.INT {
		return
	}
	for i := len(f.stack) - 2; i >= 0; i-- {
		switch above := f.stack[i].(type) {
		case *ast.BinaryExpr:
			if above.Op == token.SHL || above.Op == token.SHR {
				return
			}
		case *ast.KeyValueExpr:
			if above.Key == f.stack[i+1] {
				return
			}
		case *ast.CallExpr:
			if id, ok := above.Fun.(*ast.Ident); ok && id.Name == "make" {
				return
			}
		case ast.Stmt:
			i = 0
		}
	}
	if name := f.typeName(f.source.info.TypeOf(n)); name != "" {
		f.add(opNumber, n, f.around(n, 0, "mutantNext($, "+name+"(", "))"))
	}
}

// returns changes the results of a statement: a constant bool, and the last one if
// it is an error.
func (f *finder) returns(n *ast.ReturnStmt) {
	for _, x := range n.Results {
		if id, ok := x.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") && f.constant(x) && f.isBool(x) {
			f.add(opBool, n, f.around(x, 0, "(", " != mutantOn($))"))
		}
	}
	results := f.results()
	if results == nil || len(n.Results) != results.Len() || len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	isError := types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type())
	if isError && !f.source.info.Types[last].IsNil() {
		f.add(opError, n, f.around(last, 0, "mutantNil($, ", ")"))
	}
}

// results returns the results of the innermost function.
func (f *finder) results() *types.Tuple {
	for i := len(f.stack) - 1; i >= 0; i-- {
		switch fn := f.stack[i].(type) {
		case *ast.FuncLit:
			if sig, ok := f.source.info.TypeOf(fn).(*types.Signature); ok {
				return sig.Results()
			}
		case *ast.FuncDecl:
			if def := f.source.info.Defs[fn.Name]; def != nil {
				if sig, ok := def.Type().(*types.Signature); ok {
					return sig.Results()
				}
			}
		}
	}
	return nil
}

// statements removes statements of a block. What only logs stays.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok || f.logs(call) || f.ends(call) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || isBlank(s.Lhs) {
				continue
			}
		case *ast.IncDecStmt, *ast.SendStmt:
		default:
			continue
		}
		f.add(opRemove, s, f.around(s, 4, "if !mutantOn($) { ", " }"))
	}
}

// logs reports whether a call is one of package log/slog.
func (f *finder) logs(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	called := f.source.info.Uses[sel.Sel]
	return called != nil && called.Pkg() != nil && called.Pkg().Path() == "log/slog"
}

// ends reports whether a call is panic, which may end a function.
func (*finder) ends(call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

func isBlank(list []ast.Expr) bool {
	for _, x := range list {
		if id, ok := x.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

func (f *finder) constant(x ast.Expr) bool { return f.source.info.Types[x].Value != nil }

func (f *finder) isBool(x ast.Expr) bool {
	t := f.source.info.TypeOf(x)
	return t != nil && (types.Identical(t, types.Typ[types.Bool]) || types.Identical(t, types.Typ[types.UntypedBool]))
}

// basic reports whether the type of an expression is made of a basic type with
// some of the properties.
func (f *finder) basic(x ast.Expr, info types.BasicInfo) bool {
	t := f.source.info.TypeOf(x)
	if t == nil {
		return false
	}
	if _, generic := types.Unalias(t).(*types.TypeParam); generic {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

// typeName returns the name of a type in this file, or "" if it has none.
func (f *finder) typeName(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic:
		if t.Info()&types.IsUntyped == 0 && t.Info()&(types.IsInteger|types.IsFloat) != 0 {
			return t.Name()
		}
	case *types.Named:
		if t.TypeArgs() != nil {
			return ""
		}
		if t.Obj().Pkg() == f.source.in && t.Obj().Parent() == f.source.in.Scope() {
			return t.Obj().Name()
		}
		for _, s := range f.source.file.Imports {
			if p, err := strconv.Unquote(s.Path.Value); err == nil && t.Obj().Pkg() != nil && p == t.Obj().Pkg().Path() {
				if s.Name != nil {
					return s.Name.Name + "." + t.Obj().Name()
				}
				if path.Base(p) == t.Obj().Pkg().Name() {
					return t.Obj().Pkg().Name() + "." + t.Obj().Name()
				}
			}
		}
	}
	return ""
}
