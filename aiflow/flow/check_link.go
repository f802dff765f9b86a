package flow

import "fmt"

// maxFunctions bounds the functions that belong to one document.
const maxFunctions = 100

// linker joins a program and the functions that it calls, and that they call.
// All share one map of programs, so that they may call each other and
// themselves.
type linker struct {
	types       *Types
	report      *report
	environment *Environment
	programs    map[string]*Program
	queue       []called
}

// called is a function that something calls.
type called struct {
	slug string
	by   string // the function that calls it; "" for the document
	at   []any  // where in the document this began
}

func (l *linker) link(d *Document, c *compiled) *Program {
	program := *c.program
	program.Called = l.programs
	if d.Kind == KindFunction && d.Slug != "" {
		l.programs[d.Slug] = &program
	}
	for _, v := range c.graph.order {
		for slug, at := range v.functions() {
			l.queue = append(l.queue, called{slug: slug, at: append([]any{"nodes", v.id, "config"}, at...)})
		}
	}
	for ; len(l.queue) > 0 && l.environment.Functions != nil; l.queue = l.queue[1:] {
		l.add(l.queue[0])
	}
	return &program
}

// add links one function. What is wrong with it is told where the document
// calls it.
func (l *linker) add(f called) {
	if l.programs[f.slug] != nil || l.report.full() {
		return
	}
	if len(l.programs) == maxFunctions {
		l.report.problem("document.functions", fmt.Sprintf("needs more than %d functions", maxFunctions), "", f.at...)
		return
	}
	d := l.environment.Functions[f.slug]
	switch {
	case d == nil && f.by == "":
		return // reported with the node
	case d == nil || d.root == nil:
		l.report.problem("unknown.function", "the function "+f.by+" calls "+shorten(f.slug)+", which is not there", "", f.at...)
		return
	}
	c := l.types.compiled(d)
	if Failed(d.problems) || Failed(c.problems) || len(c.gone) > 0 && !l.environment.Published {
		l.report.problem("function.broken", "the function "+f.slug+" has errors", "correct them first", f.at...)
		return
	}
	program := *c.program
	program.Called = l.programs
	l.programs[f.slug] = &program
	for _, v := range c.graph.order {
		for slug := range v.functions() {
			l.queue = append(l.queue, called{slug, f.slug, f.at})
		}
	}
}

// functions yields the functions that a node calls, and where it names them.
func (v *vertex) functions() func(yield func(slug string, at []any) bool) {
	return func(yield func(string, []any) bool) {
		if c, ok := v.config.(functional); ok {
			c.UsesFunctions(yield)
		}
	}
}
