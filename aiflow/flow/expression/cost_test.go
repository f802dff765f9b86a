package expression_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// costly are further expressions besides those of functionCases.
var costly = []string{
	`1`, `vars`, `vars.age`, `vars["age"]`, `vars.list[0]`, `vars.name[1]`, `vars.list[1:]`, `vars.name[1:2]`, `let x = 1; x + x`, `[1, 2, 3]`, `{a: 1, b: 2}`, `true ? 1 : 2`, `vars.x ?? 1`,
	`true and false`, `true or false`, `not true`, `-vars.age`, `1 + 2`, `"ab" + "cd"`, `1 < 2`, `1 < 2 < 3`, `"ab" < "cd"`, `1 == 1`, `"ab" == "ab"`, `[1, 2] == [1, 2]`, `vars.a == vars.a`, `{a: 1, b: 2} == {a: 2, c: 2}`, `vars.items == [{name: "pen"}, 1, 2]`,
	`1 in vars.x`, `1 in vars.a`, `vars.x contains "a"`, `3..1`, `vars.x matches "a"`, `vars.x < 1`, `vars.x[0]`, `vars.x[1:]`, `vars.x.y`,
	`1 in [1, 2]`, `3 in [1, 2]`, `"a" in vars`, `"abc" contains "b"`, `"abc" matches "b+"`, `1..3`, `vars.list contains 9`,
	`all(vars.list, true)`, `count(vars.list, # > 1)`, `filter(vars.list, # > 1)`, `find(vars.list, # == 1)`, `findIndex(vars.list, # == 1)`, `map(vars.list, #)`, `sum(vars.list)`, `groupBy(vars.list, # > 1)`, `sortBy(vars.list, #)`, `reduce(vars.list, #acc + #)`,
	`[now]`, `{a: now, b: [now]}`, `formatDate(now, "HH", "America/Bogota")`, `join([1.5, [1, "a"], {b: true, a: "x\n\u0001"}])`,
}

// What each expression spends is written down: it decides when the runs of
// users stop, and it is the same every time, so that a run can be replayed.
func TestCosts(t *testing.T) {
	t.Parallel()
	all := slices.Clone(costly)
	for _, cases := range functionCases {
		all = slices.AppendSeq(all, maps.Keys(cases))
	}
	all = append(all, `len("`+strings.Repeat("a", 600)+`")`)
	slices.Sort(all)
	env := map[string]any{"vars": vars(), "now": now}
	var b strings.Builder
	for _, src := range all {
		p := compile(t, src)
		for i := range 5 {
			left := &expression.Budget{Steps: expression.MaxSteps, Bytes: expression.MaxBytes}
			_, err := p.Eval(env, left)
			require.NoError(t, err, src)
			line := fmt.Sprintf("%5d steps %5d bytes  %s\n", expression.MaxSteps-left.Steps, expression.MaxBytes-left.Bytes, src)
			if i == 0 {
				b.WriteString(line)
			}
			require.True(t, strings.HasSuffix(b.String(), line), src)
		}
	}
	golden := filepath.Join("testdata", "costs.golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	kept, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(kept), b.String(), "run with -update")
}
