package flow

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A document is migrated from its version to the newest, step by step. The original
// stays unchanged.
func TestMigrate(t *testing.T) {
	t.Parallel()
	rename := func(from, to string) func(*tree) *tree {
		return func(d *tree) *tree { return with(without(d, from), to, d.get(from)) }
	}
	steps := []func(*tree) *tree{rename("a", "b"), rename("b", "c")}
	read := func(raw string) *tree {
		r := &report{}
		root := parse([]byte(raw), len(raw), r)
		require.Empty(t, r.problems)
		return root
	}
	for _, c := range []struct {
		raw, want string
		from      int
	}{
		{`{"format":"trunkline-flow/1","a":[1],"x":{"y":2}}`, `{"c":[1],"format":"trunkline-flow/3","x":{"y":2}}`, 1},
		{`{"b":1,"format":"trunkline-flow/2"}`, `{"c":1,"format":"trunkline-flow/3"}`, 2},
		{`{"c":1,"format":"trunkline-flow/3"}`, `{"c":1,"format":"trunkline-flow/3"}`, 3},
	} {
		root := read(c.raw)
		before := string(root.canonical())
		require.Equal(t, c.want, string(migrate(root, c.from, steps).canonical()))
		require.Equal(t, before, string(root.canonical()), "the given document is not changed")
	}
	require.Len(t, migrations, version-1, "one step between two versions")
}
