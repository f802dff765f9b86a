package aiflow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestProjects makes, lists, changes and deletes projects.
func TestProjects(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		var ids []string
		for _, name := range []string{"A", "B", "C"} {
			ids = append(ids, f.project(t, name))
		}
		page, err := f.Projects().List(t.Context(), aiflow.List{Limit: 2})
		require.NoError(t, err)
		require.Len(t, page.Items, 2)
		page, err = f.Projects().List(t.Context(), aiflow.List{Cursor: page.Next})
		require.NoError(t, err)
		require.Empty(t, page.Next)
		require.Equal(t, ids[2], page.Items[0].ID)

		text := "Everything with \"quotes\" and 🙂"
		p, err := f.Projects().Update(t.Context(), ids[0], aiflow.ProjectChange{Description: &text})
		require.NoError(t, err)
		require.Equal(t, []string{"A", text}, []string{p.Name, p.Description})
		again, err := f.Projects().Get(t.Context(), ids[0])
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

// TestDeletion leaves nothing of what is deleted.
func TestDeletion(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project, other := f.project(t, "Zanzibar"), f.project(t, "Quito")
		for _, p := range []string{project, other} {
			f.published(t, p, function("double", "args.n * 2"))
			main := f.published(t, p, using("main", "double"))
			_, err := f.Bindings().Set(t.Context(), main.ID, aiflow.Binding{Reference: 7, Enabled: true})
			require.NoError(t, err)
		}
		require.NoError(t, f.Projects().Delete(t.Context(), project))
		require.Empty(t, testkit.Holding(t, f.db, project))
		flows, err := f.Flows().List(t.Context(), "", aiflow.List{})
		require.NoError(t, err)
		require.Len(t, flows.Items, 2)
		require.NoError(t, f.DeleteAll(t.Context()))
		require.Empty(t, testkit.Holding(t, f.db, "acme"))
		require.Empty(t, testkit.Holding(t, f.db, other))
	})
}

// TestDeletedRuns ends what waits in a flow that is deleted.
func TestDeletedRuns(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		main := f.published(t, f.project(t, "Shop"), `{"format":"trunkline-flow/1","kind":"flow","slug":"main","name":"F","start":"begin","nodes":{
			"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"wait"}},"wait":{"type":"wait","config":{"event":"paid"}}}}`)
		run, err := f.Runs().Start(t.Context(), aiflow.Start{Flow: main.ID})
		require.NoError(t, err)
		require.NoError(t, f.Flows().Delete(t.Context(), main.ID))
		testkit.UntilCommitted(t, f.db, func() bool {
			d, err := f.Runs().Get(t.Context(), run.ID)
			return err == nil && d.Status == "cancelled"
		})
	})
}

// TestRevisions refuses changes of what is not the newest.
func TestRevisions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		made := f.flow(t, f.project(t, "Shop"), `{"x": 1}`)
		require.Equal(t, int64(1), made.Revision)
		require.NotEmpty(t, made.Problems)
		name := "New"
		changed, err := f.Flows().Update(t.Context(), made.ID, aiflow.FlowChange{Name: &name, Revision: 1})
		require.NoError(t, err)
		require.Equal(t, int64(2), changed.Revision)
		require.JSONEq(t, `{"x": 1}`, string(changed.Draft))
		_, err = f.Flows().Update(t.Context(), made.ID, aiflow.FlowChange{Draft: []byte(`{}`), Revision: 1})
		require.ErrorIs(t, err, aiflow.ErrRevision)
		_, err = f.Runs().Start(t.Context(), aiflow.Start{Flow: made.ID})
		require.ErrorIs(t, err, aiflow.ErrUnpublished)
	})
}

// uses are all calls that name a project or a flow, or another by its id.
func uses(a *aiflow.Account) map[string]func(ctx context.Context, id string) error {
	name := "N"
	return map[string]func(ctx context.Context, id string) error{
		"project": func(ctx context.Context, id string) error { _, err := a.Projects().Get(ctx, id); return err },
		"change project": func(ctx context.Context, id string) error {
			_, err := a.Projects().Update(ctx, id, aiflow.ProjectChange{Name: &name})
			return err
		},
		"delete project": a.Projects().Delete,
		"export":         func(ctx context.Context, id string) error { _, err := a.Projects().Export(ctx, id); return err },
		"create": func(ctx context.Context, id string) error {
			_, err := a.Flows().Create(ctx, aiflow.NewFlow{Project: id, Name: name})
			return err
		},
		"list": func(ctx context.Context, id string) error {
			_, err := a.Flows().List(ctx, id, aiflow.List{})
			return err
		},
		"flow": func(ctx context.Context, id string) error { _, err := a.Flows().Get(ctx, id); return err },
		"change": func(ctx context.Context, id string) error {
			_, err := a.Flows().Update(ctx, id, aiflow.FlowChange{Name: &name})
			return err
		},
		"publish": func(ctx context.Context, id string) error {
			_, err := a.Versions().Publish(ctx, id, aiflow.Publisher{})
			return err
		},
		"validate": func(ctx context.Context, id string) error { _, err := a.Flows().Validate(ctx, id); return err },
		"version":  func(ctx context.Context, id string) error { _, err := a.Versions().Get(ctx, id, 1); return err },
		"versions": func(ctx context.Context, id string) error {
			_, err := a.Versions().List(ctx, id, aiflow.List{})
			return err
		},
		"rollback": func(ctx context.Context, id string) error {
			_, err := a.Versions().Rollback(ctx, id, 1, aiflow.Publisher{})
			return err
		},
		"diff": func(ctx context.Context, id string) error { _, err := a.Versions().Diff(ctx, id, 0, 0); return err },
		"used by": func(ctx context.Context, id string) error {
			_, err := a.Flows().UsedBy(ctx, id, aiflow.List{})
			return err
		},
		"bind": func(ctx context.Context, id string) error {
			_, err := a.Bindings().Set(ctx, id, aiflow.Binding{Reference: 7})
			return err
		},
		"bindings": func(ctx context.Context, id string) error { _, err := a.Bindings().List(ctx, id); return err },
		"start": func(ctx context.Context, id string) error {
			_, err := a.Runs().Start(ctx, aiflow.Start{Flow: id})
			return err
		},
		"detail": func(ctx context.Context, id string) error { _, err := a.Runs().Get(ctx, id); return err },
		"cancel": func(ctx context.Context, id string) error { _, err := a.Runs().Cancel(ctx, id); return err },
		"event": func(ctx context.Context, id string) error {
			_, err := a.Runs().Event(ctx, id, flow.Event{Name: "e"})
			return err
		},
		"approve": func(ctx context.Context, id string) error { _, err := a.Runs().Approve(ctx, id, "s", true); return err },
		"delete":  a.Flows().Delete,
	}
}

// TestOthers finds nothing of another account, nor by what is no id.
func TestOthers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		main := f.published(t, project, plain("main"))
		run, err := f.running(t).Runs().Start(t.Context(), aiflow.Start{Flow: main.ID})
		require.NoError(t, err)
		ids := []string{project, main.ID, run.ID, uuid.NewString(), "x", "a\x00b", "\xff\xfe", strings.Repeat("x", 1<<16), "' OR 1=1 --"}
		for name, use := range uses(f.For("other")) {
			for _, id := range ids {
				require.ErrorIs(t, use(t.Context(), id), aiflow.ErrNotFound, "%s %.20q", name, id)
			}
		}
		all, err := f.Flows().List(t.Context(), "", aiflow.List{})
		require.NoError(t, err)
		require.Equal(t, main, all.Items[0])
	})
}

// TestNames refuses texts that no database keeps, by their fields.
func TestNames(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		refused := func(field string, err error) {
			t.Helper()
			var bad *aiflow.Invalid
			require.ErrorAs(t, err, &bad)
			require.Equal(t, field, bad.Field)
		}
		for _, name := range []string{"", " ", "a\x00b", "\xff", strings.Repeat("x", 201)} {
			_, err := f.Projects().Create(t.Context(), aiflow.NewProject{Name: name})
			refused("name", err)
			_, err = f.Flows().Create(t.Context(), aiflow.NewFlow{Project: project, Name: name})
			refused("name", err)
			_, err = f.Projects().Update(t.Context(), project, aiflow.ProjectChange{Name: &name})
			refused("name", err)
		}
		for _, text := range []string{"a\x00b", "\xff", strings.Repeat("x", 2001)} {
			_, err := f.Projects().Create(t.Context(), aiflow.NewProject{Name: "P", Description: text})
			refused("description", err)
		}
		for _, draft := range []string{"", "null", "[]", `{"a":1,"a":2}`, `{"a":"` + "\xff" + `"}`, `{"a":` + "\x00" + `}`, `{`} {
			_, err := f.Flows().Create(t.Context(), aiflow.NewFlow{Project: project, Name: "F", Draft: []byte(draft)})
			var bad *aiflow.Invalid
			require.ErrorAs(t, err, &bad, "%q", draft)
			require.True(t, strings.HasPrefix(bad.Field, "draft"), bad.Field)
		}
		kept, err := f.Flows().Create(t.Context(), aiflow.NewFlow{Project: project, Name: "F", Draft: []byte(`{"name":"a\u0000b"}`)})
		require.NoError(t, err, "escaped, it is text")
		require.Equal(t, `{"name":"a\u0000b"}`, string(kept.Draft))
		for field, l := range map[string]aiflow.List{"limit": {Limit: -1}, "cursor": {Cursor: "a\x00"}} {
			_, err := f.Flows().List(t.Context(), project, l)
			refused(field, err)
			_, err = f.Flows().UsedBy(t.Context(), kept.ID, l)
			refused(field, err)
		}
	})
}
