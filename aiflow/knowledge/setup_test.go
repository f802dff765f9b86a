package knowledge_test

import (
	"log/slog"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// fixture is a service under test, and a project of one of its accounts.
type fixture struct {
	*knowledge.Account
	service *knowledge.Service
	flows   *aiflow.Service
	project string
	db      *sqlx.DB
}

// nobody is a ChatService in which runs do nothing.
type nobody struct{ runtime.ChatService }

func setup(t testing.TB, db *sqlx.DB, opts *knowledge.Options) *fixture {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, runtime.Migrate(ctx, db))
	require.NoError(t, aiflow.Migrate(ctx, db))
	require.NoError(t, knowledge.Migrate(ctx, db))
	quiet := slog.New(slog.DiscardHandler)
	runs, err := runtime.New(ctx, db, nobody{}, &runtime.Options{Logger: quiet})
	require.NoError(t, err)
	flows, err := aiflow.New(ctx, db, &aiflow.Options{Runs: runs, Logger: quiet})
	require.NoError(t, err)
	opts.Logger = quiet
	s, err := knowledge.New(ctx, db, opts)
	require.NoError(t, err)
	f := &fixture{Account: s.For("acme"), service: s, flows: flows, db: db}
	f.project = f.newProject(t, "acme")
	return f
}

func (f *fixture) newProject(t testing.TB, account string) string {
	t.Helper()
	p, err := f.flows.For(account).Projects().Create(t.Context(), aiflow.NewProject{Name: "hotel"})
	require.NoError(t, err)
	return p.ID
}

func eachDatabase(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setup(t, db, &knowledge.Options{}))
	})
}

func (f *fixture) add(t testing.TB, name, text string) knowledge.File {
	t.Helper()
	file, err := f.Add(t.Context(), f.project, knowledge.NewFile{Name: name, Data: []byte(text)})
	require.NoError(t, err)
	return file
}

func (f *fixture) search(t testing.TB, text string) []knowledge.Passage {
	t.Helper()
	found, err := f.Search(t.Context(), f.project, knowledge.Query{Text: text})
	require.NoError(t, err)
	return found
}

// names returns the files of passages, in order.
func names(found []knowledge.Passage) []string {
	out := []string{}
	for _, p := range found {
		out = append(out, p.Name)
	}
	return out
}
