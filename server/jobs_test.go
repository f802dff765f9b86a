package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// erase deletes a chat or a reference, and waits until its job has ended.
func (c client) erase(t *testing.T, path string) {
	t.Helper()
	j := c.call(t, "DELETE", path, "").json(http.StatusAccepted)["job"].(map[string]any)
	require.Equal(t, "running", j["state"])
	c.until(t, func() bool {
		_, err := c.Jobs.Step(t.Context())
		require.NoError(t, err)
		return c.call(t, "GET", "/jobs/"+j["id"].(string), "").json(200)["state"] == "completed"
	})
}

// TestDeletionsAreHidden: what is being deleted is not listed or served from the
// answer on, before any of its rows are removed, and what comes later stays.
func TestDeletionsAreHidden(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref := ana.sandbox(t)
		ana.write(t, ref, "bob", "canary")
		id := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=bob@sandbox", ref), "").json(200)["items"].([]any)[0].(map[string]any)["id"].(string)
		chat := fmt.Sprintf("/chats?reference=%d&chatId=bob@sandbox", ref)
		a := ana.call(t, "DELETE", chat, "").json(http.StatusAccepted)
		require.Equal(t, true, a["success"])
		j := a["job"].(map[string]any)
		require.Equal(t, "chat", j["kind"])
		require.EqualValues(t, ref, j["reference"])
		require.Empty(t, ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"])
		for _, path := range []string{
			fmt.Sprintf("/chats/messages?reference=%d&chatId=bob@sandbox", ref), fmt.Sprintf("/chats/resolve?reference=%d&id=bob@sandbox", ref),
			fmt.Sprintf("/messages/%s?reference=%d", id, ref),
		} {
			ana.call(t, "GET", path, "").problem(404, "not_found")
		}
		ana.write(t, ref, "bob", "back again")
		job := "/jobs/" + j["id"].(string)
		ben.call(t, "GET", job, "").problem(404, "not_found")
		ana.until(t, func() bool { return ana.call(t, "GET", job, "").json(200)["state"] == "completed" })
		done := ana.call(t, "GET", job, "").json(200)
		require.Equal(t, "completed", done["state"])
		require.NotNil(t, done["endedAt"])
		kept := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=bob@sandbox", ref), "").json(200)["items"].([]any)
		require.Len(t, kept, 1, "what comes later stays")
		require.Equal(t, "back again", kept[0].(map[string]any)["text"])

		path := fmt.Sprintf("/reference/%d", ref)
		ben.call(t, "DELETE", path, "").problem(404, "not_found")
		j = ana.call(t, "DELETE", path, "").json(http.StatusAccepted)["job"].(map[string]any)
		require.Equal(t, "reference", j["kind"])
		ana.call(t, "GET", path, "").problem(404, "not_found")
		ana.call(t, "DELETE", path, "").problem(404, "not_found")
		require.Empty(t, ana.call(t, "GET", "/reference/list", "").json(200)["items"])
		ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").problem(404, "not_found")
		ana.call(t, "POST", "/chats/send", fmt.Sprintf(`{"reference":%d,"chatId":"bob@sandbox","message":{"type":"text","text":"x"}}`, ref)).problem(404, "not_found")
		ana.call(t, "GET", "/jobs/nothing", "").problem(404, "not_found")
	})
}

// maxErased is the most rows of one transaction of a deletion: a hundred
// messages with what belongs to them, or a chunk of small rows.
const maxErased = 700

// TestDeletionsAreBounded deletes ten times as much: the transactions become
// more, and none becomes larger.
func TestDeletionsAreBounded(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, nil)
		ana := f.as(t, "ana")
		commits := testkit.ObserveCommits(t, db)
		for _, messages := range []int64{200, 2000} {
			for _, whole := range []bool{false, true} {
				ref := ana.sandbox(t)
				ana.write(t, ref, "bob", "first")
				fill(t, db, int64(ref), messages)
				path := fmt.Sprintf("/chats?reference=%d&chatId=bob@sandbox", ref)
				if whole {
					path = fmt.Sprintf("/reference/%d", ref)
				}
				commits.Take()
				ana.call(t, "DELETE", path, "").json(http.StatusAccepted)
				commits.RequireBounded(t, 1, 12)
				for more := true; more; {
					var err error
					more, err = f.Jobs.Step(t.Context())
					require.NoError(t, err)
				}
				commits.RequireBounded(t, 3*messages, maxErased)
				require.Empty(t, testkit.Holding(t, db, "filler"))
			}
		}
	})
}

// fill gives a reference's only chat messages, each with a file, an event that
// was delivered, an entry of the stream, a call of a model and a turn of memory.
func fill(t *testing.T, db *sqlx.DB, ref, messages int64) {
	t.Helper()
	var account string
	require.NoError(t, db.Get(&account, `SELECT account FROM messaging_reference WHERE id = $1`, ref))
	const number = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) `
	for _, q := range []string{
		`INSERT INTO messaging_message (reference, chat, id, mine, actor, sent_as, status, body, push_name, biz_name, error_code, error_message,
			at_us, created_us, past_us) ` + number + `SELECT c.reference, c.id, 'filler' || n.i, TRUE, '', '', 4, '{"text":"filler"}', '', '', '', '', 1, 1, 0
			FROM n, messaging_chat c WHERE c.reference = $2`,
		`INSERT INTO messaging_raw (reference, kind, raw_id, body, created_us) ` + number + `SELECT $2, 'x', 'filler' || n.i, '{}', 1 FROM n`,
		`INSERT INTO messaging_change (account, reference, kind, data, created_us) ` + number + `SELECT $3, $2, 'x', '{"chatId":"bob@sandbox","text":"filler"}', 1 FROM n`,
		`INSERT INTO webhook_event (id, at_us, account, scope, type, order_key, chat_id, message_id, headers, body) ` + number +
			`SELECT 'e' || n.i, 1, $3, CAST($2 AS TEXT), 'message', 'k', 'bob@sandbox', 'm', '', 'filler' FROM n`,
		`INSERT INTO memory_turn (account, scope, run, reference, chat_id, message_id, call_key, messages, up_to, covers, at_us) ` + number +
			`SELECT $3, 3, 'r', $2, 'bob@sandbox', '', 'k' || $2 || '-' || n.i, 'filler', 0, '', 1 FROM n`,
	} {
		q = strings.NewReplacer("$1", fmt.Sprint(messages), "$2", fmt.Sprint(ref), "$3", "'"+account+"'").Replace(q)
		_, err := db.Exec(q)
		require.NoError(t, err)
	}
}
