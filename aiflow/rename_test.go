package aiflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// jumper is a flow that continues as another.
func jumper(slug, to string) string {
	return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":%q,"name":"F","start":"begin",
		"nodes":{"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"on"}},"on":{"type":"flow","config":{"flow":%q}}}}`, slug, to)
}

// TestRename gives a function another slug: drafts follow, what is published
// continues with the old one until it is published again.
func TestRename(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		project := f.project(t, "Shop")
		twice := f.published(t, project, function("twice", "args.n * 2"))
		outer := f.published(t, project, caller("outer", "twice"))
		main := f.published(t, project, using("main", "outer"))
		agent := f.flow(t, project, `{"nodes":{"x":{"type":"agent","config":{"functions":[1,"other","twice"],"a":"<b>"}},"y":{"type":"call"},"z":3}}`)
		plain := f.flow(t, project, plain("plain"))
		elsewhere := f.published(t, f.project(t, "Other"), function("twice", "args.n"))

		got, err := f.Flows().Rename(t.Context(), twice.ID, "double")
		require.NoError(t, err)
		require.Contains(t, string(got.Flow.Draft), `"slug":"double"`)
		require.Equal(t, twice.Revision+1, got.Flow.Revision)
		require.Len(t, got.Drafts, 2)
		require.Equal(t, []string{outer.ID, agent.ID}, []string{got.Drafts[0].ID, got.Drafts[1].ID})
		require.Contains(t, string(got.Drafts[0].Draft), `"function":"double"`)
		require.JSONEq(t, `{"nodes":{"x":{"type":"agent","config":{"functions":[1,"other","double"],"a":"<b>"}},"y":{"type":"call"},"z":3}}`, string(got.Drafts[1].Draft))
		one := int64(1)
		require.Equal(t, []aiflow.Use{
			{Flow: outer.ID, Name: outer.Name, Published: &one, Draft: true}, {Flow: main.ID, Name: main.Name, Published: &one},
		}, got.Published)
		require.Equal(t, "42", f.output(t, main.ID, 21), "what is published has the function with it")
		for id, revision := range map[string]int64{plain.ID: plain.Revision, elsewhere.ID: elsewhere.Revision, main.ID: main.Revision} {
			now, err := f.Flows().Get(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, revision, now.Revision, "it names nothing that was renamed")
		}

		f.change(t, twice.ID, string(got.Flow.Draft))
		f.publish(t, outer.ID)
		require.Equal(t, "double@2", pins(f.publish(t, outer.ID)))
		require.Equal(t, "42", f.output(t, main.ID, 21))
		f.publish(t, main.ID)
		require.Equal(t, "42", f.output(t, main.ID, 21))

		again, err := f.Flows().Rename(t.Context(), twice.ID, "double")
		require.NoError(t, err)
		require.Equal(t, []int{0, 0}, []int{len(again.Drafts), len(again.Published)}, "it has that slug")
	})
}

// TestRenameFlow follows jumps, and says which published versions jump to the
// old slug.
func TestRenameFlow(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		end := f.published(t, project, plain("end"))
		from := f.published(t, project, jumper("from", "end"))
		got, err := f.Flows().Rename(t.Context(), end.ID, "finish")
		require.NoError(t, err)
		require.Len(t, got.Drafts, 1)
		require.Contains(t, string(got.Drafts[0].Draft), `"flow":"finish"`)
		one := int64(1)
		require.Equal(t, []aiflow.Use{{Flow: from.ID, Name: from.Name, Published: &one}}, got.Published)

		for slug, field := range map[string]string{"from": "slug", "": "slug", "No": "slug", "a\x00": "slug"} {
			_, err := f.Flows().Rename(t.Context(), end.ID, slug)
			var bad *aiflow.Invalid
			require.ErrorAs(t, err, &bad, slug)
			require.Equal(t, field, bad.Field)
		}
		nameless := f.flow(t, project, `{"slug":7,"nodes":{"x":{"type":"flow","config":{"flow":""}}}}`)
		f.flow(t, project, `{"nodes":{"x":{"type":"flow","config":{"flow":""}}}}`)
		got, err = f.Flows().Rename(t.Context(), nameless.ID, "x")
		require.NoError(t, err)
		require.Empty(t, got.Drafts)
		require.JSONEq(t, `{"slug":"x","nodes":{"x":{"type":"flow","config":{"flow":""}}}}`, string(got.Flow.Draft))
		_, err = f.Flows().Rename(t.Context(), project, "x")
		require.ErrorIs(t, err, aiflow.ErrNotFound)
		_, err = f.For("stranger").Flows().Rename(t.Context(), end.ID, "x")
		require.ErrorIs(t, err, aiflow.ErrNotFound)
	})
}

// TestRenameIsBounded refuses to change more drafts than a transaction may.
func TestRenameIsBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		f.flow(t, project, jumper("caller", "named"))
		named := f.published(t, project, plain("named"))
		long := fmt.Sprintf(`,"ui":{"x":%q}}`, strings.Repeat("x", 1<<20))
		large := strings.TrimSuffix(jumper("large", "named"), "}") + long
		for range 7 {
			f.flow(t, project, large)
		}
		commits := testkit.ObserveCommits(t, f.db)
		out, err := f.Flows().Rename(t.Context(), named.ID, "other")
		require.NoError(t, err)
		require.Len(t, out.Drafts, 8)
		commits.RequireBounded(t, 9, 10)
		f.flow(t, project, strings.ReplaceAll(large, `"named"`, `"other"`))
		_, err = f.Flows().Rename(t.Context(), named.ID, "third")
		var invalid *aiflow.Invalid
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "slug", invalid.Field)
		after, err := f.Flows().Get(t.Context(), named.ID)
		require.NoError(t, err)
		require.Contains(t, string(after.Draft), `"other"`, "nothing was changed")
	})
}
