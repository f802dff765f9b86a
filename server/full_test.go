package server_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
)

// filled is a server on a SQLite database that has no page left. Rows of the
// table filler may be deleted.
func filled(t *testing.T) (fixture, client, int, *sqlx.DB) {
	t.Helper()
	db, err := sqlx.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "small.db")+
		"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=max_page_count(1500)")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	f := setupOn(t, db, nil)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	ana.reference(t, reference(cloudNumber("880")))
	require.Equal(t, 200, f.do(t, "GET", "/probe", "").Code)
	db.MustExec(`CREATE TABLE filler (body TEXT)`)
	for _, size := range []int{100_000, 3000, 1} {
		for {
			if _, err := db.ExecContext(t.Context(), `INSERT INTO filler (body) VALUES ($1)`, strings.Repeat("x", size)); err != nil {
				require.ErrorContains(t, err, "full")
				break
			}
		}
		if size == 100_000 { // the smaller rows take the room of one of these at least
			db.MustExec(`DELETE FROM filler WHERE rowid = (SELECT max(rowid) FROM filler)`)
		}
	}
	return f, ana, ref, db
}

// TestFullStore refuses what it cannot keep, says so, and recovers.
func TestFullStore(t *testing.T) {
	t.Parallel()
	f, ana, ref, db := filled(t)
	write := func() answer {
		return ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf(`{"from":"ana","type":"text","text":%q}`, strings.Repeat("y", 3000)))
	}
	require.Eventually(t, func() bool { return f.do(t, "GET", "/probe", "").Code == 503 }, eventually, tick, "nobody has tried yet")
	send := sendBody(ref, "ana", `{"type":"text","text":"`+strings.Repeat("y", 3000)+`"}`)
	callback := func(id string) answer {
		return f.post(t, text("880", "88099", "16505551234", "wamid."+id, strings.Repeat("y", 3000)), cloudNumber("880").AppSecret)
	}
	for _, post := range []func(id string) answer{
		func(string) answer { return write() },
		func(string) answer { return ana.call(t, "POST", "/chats/send?wait=0", send) },
		callback, // which the network repeats
	} {
		a := post("0")
		for i := range 10 { // some pages are not full yet
			if a.Code == 503 {
				break
			}
			a = post(strconv.Itoa(i + 1))
		}
		a.problem(503, "unavailable")
	}
	p := f.do(t, "GET", "/probe", "").problem(503, "unavailable")
	require.Equal(t, "the disk is full, so that the store cannot be written: free some space, and try again", p.Detail)
	require.Contains(t, f.log.String(), "the store cannot be written")
	require.InDelta(t, 1, gauge(t, f, `trunkline_probe_failing{cause="disk"}`), 0)
	require.NotContains(t, f.log.String(), `"msg":"request failed"`)
	ana.call(t, "GET", "/reference/list", "").json(200)

	db.MustExec(`DELETE FROM filler WHERE length(body) < 100000`) // the room of a few messages
	write().json(201)
	f.do(t, "GET", "/probe", "").problem(503, "unavailable")
	db.MustExec(`DELETE FROM filler`)
	require.Eventually(t, func() bool { return f.do(t, "GET", "/probe", "").Code == 200 }, eventually, tick)
	write().json(201)
	ana.call(t, "POST", "/chats/send?wait=0", send).json(200)
	require.Equal(t, 200, callback("after").Code)
}
