package expression

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Program is a compiled expression.
type Program struct {
	body   node
	kind   Type
	locals int
	dates  bool // the result may contain a date
}

// Type returns what is known about the type of the result.
func (p *Program) Type() Type { return p.kind }

// Eval evaluates the expression. The environment holds the names of its scope; a
// missing one is nothing. Eval takes its cost from the budget; a nil budget allows
// the maximum of one expression. Every error is an [*Error].
func (p *Program) Eval(env map[string]any, budget *Budget) (v any, err error) {
	m := begin(env, budget)
	defer m.end(budget, &err)
	return m.run(p)
}

// machines are pooled because allocating one takes longer than most evaluations.
var machines = sync.Pool{New: func() any { return new(machine) }}

// begin returns a machine with the part of the budget that one evaluation may use.
func begin(env map[string]any, budget *Budget) *machine {
	m, _ := machines.Get().(*machine)
	m.env, m.given = env, Budget{Steps: MaxSteps, Bytes: MaxBytes}
	if budget != nil {
		m.given.Steps = max(0, min(MaxSteps, budget.Steps))
		m.given.Bytes = max(0, min(MaxBytes, budget.Bytes))
	}
	m.steps, m.bytes = m.given.Steps, m.given.Bytes
	return m
}

// end subtracts the cost from the budget. It turns a panic, which would be a bug in
// this package, into an error. It must be deferred directly.
func (m *machine) end(budget *Budget, err *error) {
	if recover() != nil {
		*err = fail(CodeInternal, 0, "could not be evaluated")
	}
	if budget != nil {
		budget.Steps -= m.given.Steps - m.steps
		budget.Bytes -= m.given.Bytes - m.bytes
	}
	m.env = nil
	clear(m.args[:cap(m.args)])
	m.args = m.args[:0]
	clear(m.locals)
	machines.Put(m)
}

// run evaluates one program.
func (m *machine) run(p *Program) (any, error) {
	if len(m.locals) < p.locals {
		m.locals = make([]local, p.locals)
	}
	v, err := p.body.eval(m)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case time.Time:
		return formatRFC3339(v), nil
	case []any, map[string]any:
		if p.dates {
			return m.outward(v, 1)
		}
	}
	return v, nil
}

func sortedTypes(types map[string]Type) []string { return slices.Sorted(maps.Keys(types)) }
