package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/appstate"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestErase deletes every trace of somebody from the tables of a line, whatever
// tables those are, and of nobody else; who was erased can write again.
func TestErase(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, other := paired(t, db), paired(t, db)
		ana, ben := fake.AddPhone(&webtest.PhoneOptions{Name: "Ana Lima"}), fake.AddPhone(nil)
		group := ana.CreateGroup(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner}})
		_, err := f.owner.ShareState(soon(t), f.device)
		require.NoError(t, err)
		require.NoError(t, f.owner.SetState(soon(t), appstate.BuildMute(ana.JID(), true, 0)))
		for _, l := range []*fixture{f, other} {
			for _, p := range []*webtest.Phone{ana, ben} {
				l.answers(t, l.number(t, p), p, provider.Text{Text: "hello"})
				l.says(t, p, textMessage("hello"))
			}
		}
		_, err = ana.SendText(soon(t), group, "hello all")
		require.NoError(t, err)
		await(t, f.inbox, saying("hello all"))
		f.answers(t, f.number(t, ben), ben, provider.Text{Text: "goodbye"})
		require.NoError(t, f.device.AwaitIdle(soon(t)))
		f.close(t)
		other.close(t)
		require.NotEmpty(t, traces(t, db, f, ana))
		before, untouched := traces(t, db, f, ben), traces(t, db, other, ana)

		for range 2 {
			f.erase(t, ana.JID().String(), "16505550000", "no id at all")
		}
		require.Empty(t, traces(t, db, f, ana))
		require.Equal(t, before, traces(t, db, f, ben))
		require.Equal(t, untouched, traces(t, db, other, ana), "accounts have nothing to do with each other")

		f.open(t)
		f.inbox.state(t, provider.Connected)
		f.says(t, ana, textMessage("do you know me?"))
		_, err = ana.SendText(soon(t), group, "and here?")
		require.NoError(t, err)
		await(t, f.inbox, saying("and here?"))
		f.answers(t, f.number(t, ana), ana, provider.Text{Text: "pleased to meet you"})
	})
}

// TestEraseUnpaired has nothing to erase.
func TestEraseUnpaired(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		newLine(t, db, nil).erase(t, "16505550000@s.whatsapp.net")
	})
}

func (f *fixture) erase(t testing.TB, ids ...string) {
	t.Helper()
	tx := f.db.MustBeginTx(soon(t), nil)
	defer tx.Rollback() //nolint:errcheck // what was committed stays
	require.NoError(t, f.p.EraseTx(soon(t), tx.Tx, f.ref.ID, ids))
	require.NoError(t, tx.Commit())
}

// traces are the rows of a line that name somebody, of all tables of lines.
func traces(t testing.TB, db *sqlx.DB, f *fixture, who *webtest.Phone) (out []string) {
	t.Helper()
	var tables []string
	names := `SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE 'web%' OR name LIKE 'whatsmeow%') ORDER BY name`
	if db.DriverName() == "postgres" {
		names = `SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'web%' OR table_name LIKE 'whatsmeow%' ORDER BY table_name`
	}
	require.NoError(t, db.Select(&tables, names))
	require.Greater(t, len(tables), 15)
	for _, table := range tables {
		for _, cells := range rowsOf(t, db, table) {
			row := fmt.Sprintf("%s %s", table, cells)
			mine := strings.Contains(row, f.owner.JID().User) || strings.HasPrefix(table, "web") && fmt.Sprint(cells[0]) == fmt.Sprint(f.ref.ID)
			if mine && strings.Contains(row, who.JID().User) { // which is in the hidden id too, here
				out = append(out, row)
			}
		}
	}
	return out
}

func rowsOf(t testing.TB, db *sqlx.DB, table string) (out [][]any) {
	t.Helper()
	rows, err := db.QueryContext(soon(t), `SELECT * FROM `+table)
	require.NoError(t, err)
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		cells, err := sqlx.SliceScan(rows)
		require.NoError(t, err)
		out = append(out, cells)
	}
	require.NoError(t, rows.Err())
	return out
}
