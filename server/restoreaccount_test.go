package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/backup"
)

// runs lets a server work until stop is called.
func runs(t *testing.T, f fixture) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

// notRestored are the tables of which a restore of an account leaves rows out.
var notRestored = []string{"messaging_change", "sqlite_sequence", "auth_limit", "clock_mark", "queue_node", "server_probe", "billing_event", "queue_redirect", "usagecounter_mark"}

// difference returns the rows that are in one database and not in another, without those
// of mails and of tables that are not restored.
func difference(all, without []string) (rows []string) {
	left := map[string]int{}
	for _, row := range without {
		left[row]++
	}
	mails := map[string]bool{}
	for _, row := range all {
		table, rest, _ := strings.Cut(row, " | ")
		id, rest, _ := strings.Cut(rest, " | ")
		if table == "queue_partition" && strings.HasPrefix(rest, "mail |") {
			mails[id] = true
		}
	}
	for _, row := range all {
		if left[row] > 0 {
			left[row]--
			continue
		}
		table, rest, _ := strings.Cut(row, " | ")
		id, _, _ := strings.Cut(rest, " | ")
		if !slices.Contains(notRestored, table) && !(strings.HasPrefix(table, "queue_") && mails[id]) {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return rows
}

func migrateAll(ctx context.Context, db *sqlx.DB) error {
	return errors.Join(server.Migrate(ctx, db), web.Migrate(ctx, db))
}

// TestRestoreAccount deletes an account that has something of everything, and restores
// it from a backup of all accounts: each of its rows and files is there again, and
// nothing else has changed. Then its users and its references work as before.
func TestRestoreAccount(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const word, phone, number = "canary7f3a", "16505550777", "7700770077"
		var f fixture
		g := startGraph(t, &graphOptions{
			Numbers: []graphtest.Number{cloudNumber(number)}, Callback: "http://trunkline.test/webhooks/provider",
			HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
		})
		folder, c := t.TempDir(), &clock{}
		store, err := media.OpenFolder(folder)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		without := setupOn(t, db, nil) // no mails: sign-ups end at once
		for name, word := range map[string]string{"ana": word, "ben": "remains"} {
			without.do(t, "POST", "/user/signup", fmt.Sprintf(`{"email":"%s-%s@example.org","password":"password of %s","name":"N. %[2]s"}`, name, word, word)).json(201)
		}
		begin := func() fixture {
			return setupOn(t, db, func(cfg *server.Config) {
				loopback(cfg)
				cfg.GraphURL, cfg.Media, cfg.Now, cfg.SMTPURL, cfg.Exclusive = g.URL, store, c.now, "smtp://127.0.0.1:1?from=chat@example.org", true
			})
		}
		f = begin()
		stop := runs(t, f)
		ana := setUp(t, f, g, "ana", word, phone, number)
		for _, table := range []string{"messaging_dead_letter", "messaging_raw", "messaging_early_status", "messaging_media", "webhook_attempt", "auth_user"} {
			ana.until(t, func() bool { return stored(t, db)[table] > 0 }, table)
		}
		stop()
		before, kept := testkit.Contents(t, db), files(t, folder)
		require.NotEmpty(t, kept)
		name := filepath.Join(t.TempDir(), "backup")
		file, err := os.Create(name)
		require.NoError(t, err)
		_, err = backup.Write(t.Context(), db, file, &backup.WriteOptions{Media: store})
		require.NoError(t, err)
		require.NoError(t, file.Close())
		a, err := backup.Open(name)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, a.Close()) })
		opts := &backup.AccountOptions{Migrate: migrateAll, Media: store, Folder: t.TempDir()}
		_, err = a.RestoreAccount(t.Context(), db, ana.account, opts)
		require.ErrorIs(t, err, backup.ErrExists)

		f = begin()
		ana.client = client{f, ana.token}
		stop = runs(t, f)
		ana.call(t, "DELETE", "/account", fmt.Sprintf(`{"password":"password of %s"}`, word)).json(http.StatusAccepted)
		handle, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		ana.until(t, func() bool {
			c.hasten()
			handle.Notify("server.closed")
			return traces(contents(t, db), ana.account) == 0
		})
		stop()
		require.Empty(t, files(t, folder))
		between := testkit.Contents(t, db)

		_, err = a.RestoreAccount(t.Context(), db, "nobody@example.org", opts)
		require.ErrorIs(t, err, backup.ErrNoAccount)
		wrong := errors.New("another secret")
		opts.Secret = func(context.Context, *sqlx.DB) error { return wrong }
		_, err = a.RestoreAccount(t.Context(), db, ana.account, opts)
		require.ErrorIs(t, err, wrong)
		require.Equal(t, between, testkit.Contents(t, db))
		opts.Secret = nil
		done, err := a.RestoreAccount(t.Context(), db, "Ana-"+word+"@example.org", opts)
		require.NoError(t, err)
		after := testkit.Contents(t, db)
		require.Empty(t, difference(between, after))
		require.Equal(t, difference(before, between), difference(after, between))
		require.Equal(t, backup.Restored{Account: ana.account, Rows: done.Rows, Files: int64(len(kept))}, done)
		require.Equal(t, kept, files(t, folder))
		left, err := os.ReadDir(opts.Folder)
		require.NoError(t, err)
		require.Empty(t, left)

		f = begin()
		ana.client = client{f, ana.token}
		stop = runs(t, f)
		defer stop()
		for name, header := range ana.ways() {
			require.Equal(t, 200, f.do(t, "GET", "/user/me", "", header...).Code, name)
		}
		_, err = g.Write(t.Context(), graphtest.Inbound{Number: number, From: phone, Name: word, Text: "after the restore"})
		require.NoError(t, err)
		ana.until(t, func() bool { return traces(contents(t, db), "after the restore") > 0 })
	})
}
