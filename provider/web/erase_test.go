package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/appstate"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestErase deletes every trace of somebody from the tables of a reference, whatever
// tables those are, and of nobody else; who was erased can write again.
func TestErase(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, other := paired(t, db), paired(t, db)
		ana, ben := fake.AddPhone(&webtest.PhoneOptions{Name: "Ana Lima"}), fake.AddPhone(nil)
		group := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner}})
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
		newReference(t, db, nil).erase(t, "16505550000@s.whatsapp.net")
	})
}

func (f *fixture) erase(t testing.TB, ids ...string) {
	t.Helper()
	for f.eraseSome(t, ids...) {
	}
}

// eraseSome is one step of erase, and says whether there is more.
func (f *fixture) eraseSome(t testing.TB, ids ...string) bool {
	t.Helper()
	tx := f.db.MustBeginTx(soon(t), nil)
	defer tx.Rollback() //nolint:errcheck // what was committed stays
	more, err := f.p.EraseTx(soon(t), tx, f.ref.ID, ids)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	return more
}

// TestErasureIsBounded erases somebody of whom ten times as much is kept: the
// steps become more, and none becomes larger.
func TestErasureIsBounded(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		f.close(t)
		const who, group = "16505550000@s.whatsapp.net", "120363000000000001@g.us"
		stored := func() (n int) {
			require.NoError(t, db.Get(&n, `SELECT (SELECT count(*) FROM whatsmeow_message_secrets) + (SELECT count(*) FROM whatsmeow_retry_buffer) +
				(SELECT count(*) FROM whatsmeow_sender_keys) + (SELECT count(*) FROM web_lid)`))
			return n
		}
		before := stored()
		for _, n := range []int{150, 1500} {
			number := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, n)
			ours := `(SELECT jid FROM web_device WHERE reference = ` + fmt.Sprint(f.ref.ID) + `)`
			for _, q := range []string{
				`INSERT INTO whatsmeow_message_secrets (our_jid, chat_jid, sender_jid, message_id, key) ` + number +
					`SELECT ` + ours + `, '77@lid', '77@lid', 'm' || i, '0123456789abcdef0123456789abcdef' FROM n`,
				`INSERT INTO whatsmeow_retry_buffer (our_jid, chat_jid, message_id, format, plaintext, timestamp) ` + number +
					`SELECT ` + ours + `, '` + who + `', 'm' || i, '', '', 1 FROM n`,
				`INSERT INTO whatsmeow_sender_keys (our_jid, chat_id, sender_id, sender_key) ` + number +
					`SELECT ` + ours + `, '` + group + `', '16505550000:' || i, '' FROM n`,
				fmt.Sprintf(`INSERT INTO web_lid (reference, lid, phone) VALUES (%d, '77', '16505550000')`, f.ref.ID),
			} {
				db.MustExec(strings.ReplaceAll(q, "'0123456789abcdef0123456789abcdef'", bytesOf(db, 32)))
			}
			steps := 0
			for more := true; more; steps++ {
				was := stored()
				more = f.eraseSome(t, who)
				require.LessOrEqual(t, was-stored(), 600)
			}
			require.Equal(t, before, stored())
			require.Greater(t, steps, 3*n/600)
		}
	})
}

// TestForgettingIsBounded forgets a device that has ten times as much: the
// transactions become more, and none becomes larger.
func TestForgettingIsBounded(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		commits := testkit.ObserveCommits(t, db)
		for _, n := range []int64{300, 3000} {
			f := paired(t, db)
			f.close(t)
			number := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, n)
			ours := fmt.Sprintf(`(SELECT jid FROM web_device WHERE reference = %d)`, f.ref.ID)
			db.MustExec(`INSERT INTO whatsmeow_message_secrets (our_jid, chat_jid, sender_jid, message_id, key) ` + number +
				`SELECT ` + ours + `, 'filler', 'filler', 'm' || i, ` + bytesOf(db, 32) + ` FROM n`)
			db.MustExec(`INSERT INTO whatsmeow_contacts (our_jid, their_jid) ` + number + `SELECT ` + ours + `, 'filler' || i FROM n`)
			db.MustExec(`INSERT INTO web_lid (reference, lid, phone) ` + number + fmt.Sprintf(`SELECT %d, 'filler' || i, 'filler' || i FROM n`, f.ref.ID))
			commits.Take()
			require.NoError(t, f.p.Forget(soon(t), f.ref.ID))
			commits.RequireBounded(t, 3*n, 200)
			for _, table := range []string{"whatsmeow_message_secrets", "whatsmeow_contacts", "web_lid", "whatsmeow_device"} {
				for _, cells := range rowsOf(t, db, table) {
					require.NotContains(t, fmt.Sprint(cells), "filler")
					require.NotContains(t, fmt.Sprint(cells), f.owner.JID().User)
				}
			}
		}
	})
}

// bytesOf is a value of so many bytes, in SQL.
func bytesOf(db *sqlx.DB, n int) string {
	if db.DriverName() == "postgres" {
		return `'\x` + strings.Repeat("00", n) + `'::bytea`
	}
	return `x'` + strings.Repeat("00", n) + `'`
}

// traces are the rows of a reference that name somebody, of all tables of references.
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
