package aiflow_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// TestPins keeps a published flow with the functions that it was published
// with, also those that its functions call, whatever becomes of them.
func TestPins(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		project := f.project(t, "Shop")
		double := f.published(t, project, function("double", "args.n * 2"))
		outer := f.published(t, project, caller("outer", "double"))
		require.Equal(t, "double@1", pins(outer))
		main := f.published(t, project, using("main", "outer"))
		require.Equal(t, "double@1 outer@1", pins(main))
		require.Equal(t, "10", f.output(t, main.ID, 5))

		f.change(t, double.ID, function("double", "args.n * 3"))
		require.Equal(t, "10", f.output(t, main.ID, 5), "it is pinned")
		main = f.publish(t, main.ID)
		require.Equal(t, int64(2), main.Published.Version, "other functions make another version")
		require.Equal(t, "double@2 outer@1", pins(main), "functions come as they are published now")
		require.Equal(t, "15", f.output(t, main.ID, 5))

		require.NoError(t, f.Flows().Delete(t.Context(), double.ID))
		require.Equal(t, "15", f.output(t, main.ID, 5), "it outlives the function")
		_, err := f.Versions().Publish(t.Context(), main.ID, aiflow.Publisher{})
		var refused *aiflow.Refused
		require.ErrorAs(t, err, &refused)
		require.Contains(t, codes(refused.Problems), "unknown.function")
	})
}

// TestUnpublishedFunction says of a function that is not published yet what is
// to be done.
func TestUnpublishedFunction(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		inner, err := f.Flows().Create(t.Context(), aiflow.NewFlow{Project: project, Name: "Inner", Draft: json.RawMessage(function("inner", "args.n"))})
		require.NoError(t, err)
		outer, err := f.Flows().Create(t.Context(), aiflow.NewFlow{Project: project, Name: "Outer", Draft: json.RawMessage(caller("outer", "inner"))})
		require.NoError(t, err)
		says := func() (out []string) {
			problems, err := f.Flows().Validate(t.Context(), outer.ID)
			require.NoError(t, err)
			for _, p := range problems {
				out = append(out, p.Code+": "+p.Message+"; "+p.Hint)
			}
			return out
		}
		require.Equal(t, []string{"unknown.function: the function inner is not published; publish the function first"}, says())
		f.publish(t, inner.ID)
		require.Empty(t, says())
	})
}

func codes(problems []flow.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Code)
	}
	return out
}

// TestRepublish makes a version only of what differs, also of functions, which
// do not come with themselves.
func TestRepublish(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		project := f.project(t, "Shop")
		countdown := function("countdown", "args.n")
		one := f.published(t, project, countdown)
		require.Empty(t, one.Published.Functions)
		one = f.publish(t, one.ID)
		require.Equal(t, int64(1), one.Published.Version)
		one = f.change(t, one.ID, " "+countdown)
		require.Equal(t, int64(1), one.Published.Version, "spaces change nothing")

		// functions that call each other, and so themselves
		b := f.published(t, project, function("b", "args.n"))
		a := f.published(t, project, caller("a", "b"))
		b = f.change(t, b.ID, caller("b", "a"))
		require.Equal(t, "a@1", pins(b))
		a = f.publish(t, a.ID)
		require.Equal(t, "b@2", pins(a))
		a = f.publish(t, a.ID)
		require.Equal(t, int64(2), a.Published.Version)
	})
}

// TestRollback goes back to a version with the functions of then, and on with
// new numbers.
func TestRollback(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		project := f.project(t, "Shop")
		add := f.published(t, project, function("add", "args.n + 1"))
		main := f.published(t, project, using("main", "add"))
		f.change(t, add.ID, function("add", "args.n + 2"))
		main = f.publish(t, main.ID)
		require.Equal(t, "3", f.output(t, main.ID, 1))

		back, err := f.Versions().Rollback(t.Context(), main.ID, 1, aiflow.Publisher{})
		require.NoError(t, err)
		require.Equal(t, int64(1), back.Published.Version)
		require.Greater(t, back.Revision, main.Revision)
		require.Equal(t, "2", f.output(t, main.ID, 1))
		main = f.publish(t, main.ID)
		require.Equal(t, int64(3), main.Published.Version)
		require.Equal(t, "add@2", pins(main))
		versions, err := f.Versions().List(t.Context(), main.ID, aiflow.List{Limit: 2})
		require.NoError(t, err)
		require.Len(t, versions.Items, 2)
		versions, err = f.Versions().List(t.Context(), main.ID, aiflow.List{Cursor: versions.Next})
		require.NoError(t, err)
		require.Len(t, versions.Items, 1)
		require.Empty(t, versions.Next)

		for _, version := range []int64{-1, 0, 4} {
			_, err = f.Versions().Rollback(t.Context(), main.ID, version, aiflow.Publisher{})
			var bad *aiflow.Invalid
			require.ErrorAs(t, err, &bad)
			require.Equal(t, "version", bad.Field)
		}
	})
}

// TestSlugs are one flow's within a project, whichever way it comes to them.
func TestSlugs(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		first := f.published(t, project, plain("one"))
		f.published(t, f.project(t, "Other"), plain("one"))
		second := f.flow(t, project, plain("one"))
		taken := func(err error) {
			t.Helper()
			var refused *aiflow.Refused
			require.ErrorAs(t, err, &refused)
			require.Equal(t, []string{"slug.taken"}, codes(refused.Problems))
		}
		_, err := f.Versions().Publish(t.Context(), second.ID, aiflow.Publisher{})
		taken(err)
		f.change(t, first.ID, plain("two"))
		f.publish(t, second.ID)
		_, err = f.Versions().Rollback(t.Context(), first.ID, 1, aiflow.Publisher{})
		taken(err)
		now, err := f.Flows().Get(t.Context(), first.ID)
		require.NoError(t, err)
		require.Equal(t, int64(2), now.Published.Version)
	})
}

// TestBindings listens with flows, not with functions, and until a reference or a
// flow is gone.
func TestBindings(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		main := f.published(t, project, plain("main"))
		listening := func() (n int) {
			t.Helper()
			found, err := f.Listeners(t.Context(), "acme", 7)
			require.NoError(t, err)
			for _, l := range found {
				if _, takes := l.Trigger.Match(flow.Inbound{Text: "Hi"}); takes && l.Enabled {
					n++
				}
			}
			return n
		}
		require.Zero(t, listening())
		five, limit := 5, 101
		bound, err := f.Bindings().Set(t.Context(), main.ID, aiflow.Binding{Reference: 7, Enabled: true, Priority: &five})
		require.NoError(t, err)
		require.Equal(t, []aiflow.Binding{{Reference: 7, Enabled: true, Priority: &five}}, bound)
		require.Equal(t, 1, listening())
		_, err = f.Bindings().Set(t.Context(), main.ID, aiflow.Binding{Reference: 7, Enabled: true, Priority: &limit})
		var bad *aiflow.Invalid
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "priority", bad.Field)

		_, err = f.Bindings().Set(t.Context(), main.ID, aiflow.Binding{Reference: 7})
		require.NoError(t, err)
		require.Zero(t, listening(), "it is off")
		f.change(t, main.ID, function("main", "args.n"))
		_, err = f.Bindings().Set(t.Context(), main.ID, aiflow.Binding{Reference: 7, Enabled: true})
		require.ErrorIs(t, err, aiflow.ErrFunction)
		_, err = f.Runs().Start(t.Context(), aiflow.Start{Flow: main.ID})
		require.ErrorIs(t, err, aiflow.ErrFunction)

		other := f.published(t, project, plain("other"))
		_, err = f.Bindings().Set(t.Context(), other.ID, aiflow.Binding{Reference: 7, Enabled: true})
		require.NoError(t, err)
		require.NoError(t, f.Flows().Delete(t.Context(), other.ID))
		require.Zero(t, listening())
	})
}
