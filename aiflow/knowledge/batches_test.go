package knowledge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// distinct returns a text of distinct words.
func distinct(words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "word%d ", i)
		if i%100 == 99 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// maxRows is the maximum number of rows of one transaction: a batch, and the row of
// the file.
const maxRows = 151

// TestTransactionsAreBounded stores and removes ten times as much: the
// transactions become more, and none becomes larger.
func TestTransactionsAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		commits := testkit.ObserveCommits(t, f.db)
		for _, n := range []int64{1000, 10_000} {
			text := distinct(int(n))
			file := f.add(t, "a.txt", text)
			commits.RequireBounded(t, n, maxRows)
			require.NoError(t, f.Delete(t.Context(), f.project, file.ID))
			commits.RequireBounded(t, 1, 1)
			require.NoError(t, f.service.Clean(t.Context()))
			commits.RequireBounded(t, n, maxRows)

			project := f.newProject(t, "acme")
			_, err := f.Add(t.Context(), project, knowledge.NewFile{Name: "b.txt", Data: []byte(text)})
			require.NoError(t, err)
			commits.Take()
			require.NoError(t, f.flows.For("acme").Projects().Delete(t.Context(), project))
			commits.RequireBounded(t, 1, 10)
			require.NoError(t, f.service.Clean(t.Context()))
			commits.RequireBounded(t, n, maxRows)

			f.add(t, "c.txt", text)
			_, err = f.db.Exec(fmt.Sprintf(`INSERT INTO knowledge_file (id, account, project, name, type, bytes, passages, words, lengths, created_us, ready, due_us)
				WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
				SELECT 'f' || i, account, project, 'word1', type, 1, 1, 1, lengths, 1, TRUE, 0 FROM n, knowledge_file WHERE name = 'c.txt'`, n/5))
			require.NoError(t, err)
			commits.Take()
			require.NoError(t, f.DeleteAll(t.Context()))
			commits.RequireBounded(t, n, maxRows)
		}
		require.Empty(t, testkit.Holding(t, f.db, "word1"))
	})
}

// TestLongPassages stores few rows of many bytes at once.
func TestLongPassages(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		commits := testkit.ObserveCommits(t, f.db)
		file := f.add(t, "a.txt", strings.Repeat(strings.Repeat("boat ", 220)+"\n\n", 1000))
		require.EqualValues(t, 1000, file.Passages)
		commits.RequireBounded(t, 1000, 1+(256<<10)/1000)
		require.Len(t, f.search(t, "boat"), 6)
	})
}

// TestInterrupted aborts storing a file at a commit, like a process that is killed:
// the file is never found, and is removed after the timeout.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		now := time.Now()
		f := setup(t, db, &knowledge.Options{Now: func() time.Time { return now }})
		whole := f.add(t, "whole.txt", "boat")
		for _, at := range []int{1, 2, 5, 15} { // reserved; between passages; between words
			left := at
			require.NoError(t, database.Observe(t.Context(), db, func(int64) {
				if left--; left == 0 {
					panic("killed")
				}
			}))
			require.PanicsWithValue(t, "killed", func() {
				_, _ = f.Add(t.Context(), f.project, knowledge.NewFile{Name: "a.txt", Data: []byte("# boat\n\n" + distinct(20_000))})
			})
			require.NoError(t, database.Observe(t.Context(), db, nil))
			require.Equal(t, []string{"whole.txt"}, names(f.search(t, "boat word1")), "after %d commits", at)
			require.NoError(t, f.service.Clean(t.Context()))
			require.Len(t, testkit.Holding(t, db, "a.txt"), 1, "it may still be stored: another node cannot know")
			now = now.Add(6 * time.Minute)
			require.NoError(t, f.service.Clean(t.Context()))
			require.Empty(t, testkit.Holding(t, db, "word1"))
			require.Empty(t, testkit.Holding(t, db, "a.txt"))
		}
		page, err := f.Files(t.Context(), f.project, knowledge.List{})
		require.NoError(t, err)
		require.Equal(t, []knowledge.File{whole}, page.Items)
	})
}

// TestCancelled cancels an upload: what was stored is removed at once, and its room
// is free again.
func TestCancelled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		require.NoError(t, database.Observe(t.Context(), f.db, func(int64) {
			if n++; n == 5 {
				cancel()
			}
		}))
		_, err := f.Add(ctx, f.project, knowledge.NewFile{Name: "a.txt", Data: []byte(distinct(20_000))})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, f.search(t, "word1"))
		require.NoError(t, f.service.Clean(t.Context()))
		require.Empty(t, testkit.Holding(t, f.db, "word1"))
		require.Empty(t, testkit.Holding(t, f.db, "a.txt"))
	})
}

// TestDeletedMeanwhile deletes a project while a file is stored in it, and has two
// nodes remove the rest.
func TestDeletedMeanwhile(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		started := make(chan struct{})
		n := 0
		require.NoError(t, database.Observe(t.Context(), f.db, func(int64) {
			if n++; n == 3 {
				close(started)
			}
		}))
		var g errgroup.Group
		g.Go(func() error {
			<-started
			return f.flows.For("acme").Projects().Delete(t.Context(), f.project)
		})
		_, err := f.Add(t.Context(), f.project, knowledge.NewFile{Name: "a.txt", Data: []byte(distinct(100_000))})
		require.ErrorIs(t, err, knowledge.ErrNotFound)
		require.NoError(t, g.Wait())
		require.NoError(t, database.Observe(t.Context(), f.db, nil))
		for range 2 {
			g.Go(func() error { return f.service.Clean(t.Context()) })
		}
		require.NoError(t, g.Wait())
		require.Empty(t, testkit.Holding(t, f.db, "word1"))
		require.Empty(t, testkit.Holding(t, f.db, "a.txt"))
	})
}

// TestRun removes a deleted file by itself.
func TestRun(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return f.service.Run(ctx) })
		file := f.add(t, "a.txt", "boat")
		require.NoError(t, f.Delete(t.Context(), f.project, file.ID))
		testkit.UntilCommitted(t, f.db, func() bool {
			var n int
			require.NoError(t, f.db.GetContext(t.Context(), &n, `SELECT COUNT(*) FROM knowledge_file`))
			return n == 0
		})
		cancel()
		require.NoError(t, g.Wait())
	})
}
