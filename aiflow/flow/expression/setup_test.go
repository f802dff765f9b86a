package expression_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// now is the time of every evaluation.
var now = time.Date(2026, 3, 15, 10, 30, 0, 0, time.UTC)

// scope has names that hold anything, and declared ones.
var scope = expression.NewScope(map[string]expression.Type{
	"vars": {Kind: expression.Map},
	"item": {},
	"now":  {Kind: expression.Date},
	"typed": {Kind: expression.Map, Fields: map[string]expression.Type{
		"name":   {Kind: expression.Text},
		"age":    {Kind: expression.Number},
		"member": {Kind: expression.Bool},
		"tags":   {Kind: expression.List, Items: &expression.Type{Kind: expression.Text}},
		"due":    {Kind: expression.Date | expression.Text},
		"open":   {Kind: expression.Map},
	}},
})

func compile(t testing.TB, src string) *expression.Program {
	t.Helper()
	p, err := expression.Compile(src, scope)
	require.NoError(t, err, src)
	return p
}

func parse(t testing.TB, src string) *expression.Template {
	t.Helper()
	p, err := expression.ParseTemplate(src, scope)
	require.NoError(t, err, src)
	return p
}

// eval evaluates with these variables.
func eval(t testing.TB, src string, vars map[string]any) any {
	t.Helper()
	v, err := compile(t, src).Eval(map[string]any{"vars": vars, "now": now}, nil)
	require.NoError(t, err, src)
	return v
}

// wrong returns the error as ours.
func wrong(t testing.TB, err error) *expression.Error {
	t.Helper()
	var e *expression.Error
	require.ErrorAs(t, err, &e)
	return e
}

func compileErr(src string) (*expression.Program, error) { return expression.Compile(src, scope) }

// cpu reports the processor time of each operation, which a busy machine does
// not make longer. It is called before the loop; what it returns, after.
func cpu(b *testing.B) func() {
	b.Helper()
	b.ReportAllocs()
	before := testkit.OwnCPUTime(b)
	return func() {
		b.ReportMetric(float64((testkit.OwnCPUTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
	}
}
