package messaging_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/messenger"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/provider/web"
)

// oldChat is a chat as version 4 of the tables had it, with its names.
type oldChat struct {
	ref                         provider.ReferenceID
	chatID, phone, userID, lid  string
	group                       bool
	names                       []string
	want                        messaging.Identity
	reachedBy, refused, unknown []string // ids after the migration
}

// TestIDKindsMigration brings chats along that were stored when ids had no
// kinds. Where the digits of a hidden id had become a phone number, they are
// none any more.
func TestIDKindsMigration(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		db = emptied(t, db)
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		d.StopAt(map[string]int64{"messaging": 4})
		require.NoError(t, messaging.Migrate(t.Context(), db))
		kinds := []provider.Kind{web.Kind, cloud.Kind, messenger.Kind, sandbox.Kind}
		for i, kind := range kinds {
			insertOldReference(t, db, provider.ReferenceID(i+1), kind)
		}
		chats := oldChats()
		for i := range chats {
			insertOldChat(t, db, int64(i+1), &chats[i])
		}
		d.StopAt(nil)

		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers = realKinds(nil) }})
		for _, c := range chats {
			for _, id := range append(c.reachedBy, c.want.ChatID) {
				who, err := f.acc.Contacts().Resolve(t.Context(), c.ref, id)
				require.NoError(t, err, id)
				require.Equal(t, c.want, who, id)
			}
			for _, id := range c.refused {
				_, err := f.acc.Chat(t.Context(), c.ref, id)
				require.True(t, refusedID(err), "%s: %v", id, err)
			}
			for _, id := range c.unknown {
				_, err := f.acc.Chat(t.Context(), c.ref, id)
				require.ErrorIs(t, err, messaging.ErrNotFound, id)
			}
		}
		// What comes later finds the same chats.
		f.receive(t, 1, text("w1", "", "hello", func(m *provider.Message) {
			m.Chat = provider.Address{ChatID: "901111111111111@lid", LID: "901111111111111"}
			m.From.Address = m.Chat
		}))
		f.receive(t, 3, text("m1", "", "hello", func(m *provider.Message) {
			m.Chat = provider.Address{ChatID: "7001@messenger", PSID: "7001"}
			m.From.Address = m.Chat
		}))
		require.Equal(t, len(chats), count(t, db, `SELECT count(*) FROM messaging_chat`))
	})
}

// TestIDKindsMigrationOfManyChats brings along every id of a reference with many
// contacts.
func TestIDKindsMigrationOfManyChats(t *testing.T) {
	t.Parallel()
	const chats = 20_000
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		db = emptied(t, db)
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		d.StopAt(map[string]int64{"messaging": 4})
		require.NoError(t, messaging.Migrate(t.Context(), db))
		insertOldReference(t, db, 1, web.Kind)
		const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `
		const phone, lid = `CAST(491510000000 + i AS TEXT)`, `CAST(901111111100000 + i AS TEXT)`
		_, err = db.ExecContext(t.Context(), fmt.Sprintf(numbers, chats)+`INSERT INTO messaging_chat (reference, chat_id, is_group, phone, user_id, lid,
			label, title, title_us, name, biz_name, username, name_us, moved_us, unread, bot_active, variables, tags, fields, language, opted_out, opted_us,
			handoff_us, last_message, activity_us, activity_slot, window_us, created_us, updated_us)
			SELECT 1, `+phone+` || '@s.whatsapp.net', FALSE, `+phone+`, '', `+lid+`, '', '', 0, '', '', '', 0, 0, 0, TRUE, '{}', '[]', '{}', '',
			FALSE, 0, 0, 0, 1, 0, 0, 1, 1 FROM n ORDER BY i`)
		require.NoError(t, err)
		for _, name := range []string{phone, phone + ` || '@s.whatsapp.net'`, lid, lid + ` || '@lid'`} {
			_, err = db.ExecContext(t.Context(), fmt.Sprintf(numbers, chats)+`INSERT INTO messaging_alias (reference, alias, chat)
				SELECT 1, `+name+`, c.id FROM n JOIN messaging_chat c ON c.reference = 1 AND c.chat_id = `+phone+` || '@s.whatsapp.net'`)
			require.NoError(t, err)
		}
		d.StopAt(nil)
		require.NoError(t, messaging.Migrate(t.Context(), db))
		require.Equal(t, 4*chats, count(t, db, `SELECT count(*) FROM messaging_alias`))
	})
}

// emptied is a database without tables, of the same dialect.
func emptied(t *testing.T, db *sqlx.DB) *sqlx.DB {
	t.Helper()
	if d, err := database.Of(t.Context(), db); err == nil && d.Dialect == database.SQLite {
		return testkit.Open(t, "sqlite://"+filepath.Join(t.TempDir(), "empty.db"))
	}
	_, err := db.ExecContext(t.Context(), `DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	require.NoError(t, err)
	return db
}

func oldChats() []oldChat {
	const poisoned, learned, plain = "901111111111111", "902222222222222", "903333333333333"
	return []oldChat{
		{ // the digits of its hidden id were taken for its phone number
			ref: 1, chatID: poisoned + "@s.whatsapp.net", phone: poisoned, lid: poisoned,
			names:     []string{poisoned, poisoned + "@lid", poisoned + "@s.whatsapp.net"},
			want:      messaging.Identity{ChatID: poisoned + "@lid", LID: ptr(poisoned)},
			reachedBy: []string{poisoned + "::single"}, refused: []string{poisoned, "+" + poisoned}, unknown: []string{poisoned + "@s.whatsapp.net"},
		},
		{ // so were this one's, and its number became known later
			ref: 1, chatID: learned + "@s.whatsapp.net", phone: learned, lid: learned,
			names:     []string{learned, learned + "@s.whatsapp.net", "491510000002", "491510000002@s.whatsapp.net"},
			want:      messaging.Identity{ChatID: "491510000002@s.whatsapp.net", Phone: ptr("491510000002"), LID: ptr(learned)},
			reachedBy: []string{learned + "@lid", learned + "::single", "491510000002", "491510000002::single"}, refused: []string{learned},
			unknown: []string{learned + "@s.whatsapp.net"},
		},
		{ // only a name of this one is wrong
			ref: 1, chatID: "491510000003@s.whatsapp.net", phone: "491510000003", lid: plain,
			names:     []string{plain, plain + "@s.whatsapp.net", "491510000003", "491510000003@s.whatsapp.net"},
			want:      messaging.Identity{ChatID: "491510000003@s.whatsapp.net", Phone: ptr("491510000003"), LID: ptr(plain)},
			reachedBy: []string{"+49 151 0000003", plain + "@lid"}, refused: []string{plain}, unknown: []string{plain + "@s.whatsapp.net"},
		},
		{ // healthy, with an older hidden id and an older number
			ref: 1, chatID: "491510000004@s.whatsapp.net", phone: "491510000004", lid: "905",
			names:     []string{"905", "904444444444444", "904444444444444@lid", "491510000004", "491510000004@s.whatsapp.net", "491510000005", "491510000005@s.whatsapp.net"},
			want:      messaging.Identity{ChatID: "491510000004@s.whatsapp.net", Phone: ptr("491510000004"), LID: ptr("905")},
			reachedBy: []string{"904444444444444@lid", "905@lid", "491510000005", "905::single"}, refused: []string{"904444444444444"},
		},
		{
			ref: 1, chatID: "120363040000000001@g.us", group: true, names: []string{"120363040000000001@g.us"},
			want: messaging.Identity{ChatID: "120363040000000001@g.us"}, reachedBy: []string{"120363040000000001::group"},
		},
		{
			ref: 2, chatID: "16505551234", phone: "16505551234", userID: "US.1", names: []string{"16505551234", "16505550000", "US.1", "US.0"},
			want:      messaging.Identity{ChatID: "16505551234", Phone: ptr("16505551234"), UserID: ptr("US.1")},
			reachedBy: []string{"16505550000", "US.1", "US.0", "+1 650 555 1234", "16505551234::single", "US.1::single"},
		},
		{
			ref: 2, chatID: "US.2", userID: "US.2", names: []string{"US.2"},
			want: messaging.Identity{ChatID: "US.2", UserID: ptr("US.2")}, reachedBy: []string{"US.2::single"},
		},
		{
			ref: 3, chatID: "7001@messenger", userID: "7001", names: []string{"7001@messenger", "7001"},
			want: messaging.Identity{ChatID: "7001@messenger", UserID: ptr("7001")}, reachedBy: []string{"7001", "7001::single"},
		},
		{
			ref: 4, chatID: "maria@sandbox", names: []string{"maria@sandbox"},
			want: messaging.Identity{ChatID: "maria@sandbox"}, reachedBy: []string{"maria", "Maria", "maria::single"},
		},
	}
}

func insertOldReference(t *testing.T, db *sqlx.DB, id provider.ReferenceID, kind provider.Kind) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), `INSERT INTO messaging_reference (account, name, kind, settings, callback_url, line_key, group_key, verify_hash,
		revision, state, proved, remote_id, remote_name, remote_biz, connected_us, inbound_us, ack_us, probe_us, error_code, error_message, error_us,
		error_retry_us, created_us, updated_us)
		VALUES ($1, 'Shop', $2, '{}', '', '', '', '', 1, 'CONNECTED', TRUE, '', '', '', 0, 0, 0, 0, '', '', 0, 0, 1, 1)`, messaging.OneAccount, kind)
	require.NoError(t, err)
	require.Equal(t, int(id), count(t, db, `SELECT max(id) FROM messaging_reference`))
}

func insertOldChat(t *testing.T, db *sqlx.DB, id int64, c *oldChat) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), `INSERT INTO messaging_chat (reference, chat_id, is_group, phone, user_id, lid, label, title, title_us, name,
		biz_name, username, name_us, moved_us, unread, bot_active, variables, tags, fields, language, opted_out, opted_us, handoff_us, last_message,
		activity_us, activity_slot, window_us, created_us, updated_us)
		VALUES ($1, $2, $3, $4, $5, $6, '', '', 0, '', '', '', 0, 0, 0, TRUE, '{}', '[]', '{}', '', FALSE, 0, 0, 0, 1, 0, 0, 1, 1)`,
		c.ref, c.chatID, c.group, c.phone, c.userID, c.lid)
	require.NoError(t, err)
	for _, n := range c.names {
		_, err := db.ExecContext(t.Context(), `INSERT INTO messaging_alias (reference, alias, chat) VALUES ($1, $2, $3)`, c.ref, n, id)
		require.NoError(t, err, fmt.Sprint(c.chatID, " ", n))
	}
}

// TestSameDigitsAreTwoPeople exports and erases a contact whose hidden id has
// the digits of somebody else's phone number.
func TestSameDigitsAreTwoPeople(t *testing.T) {
	t.Parallel()
	const digits = "491510000009"
	hidden := provider.Address{ChatID: digits + "@lid", LID: digits}
	other := provider.Address{ChatID: digits + "@s.whatsapp.net", Phone: digits}
	group := provider.Address{ChatID: "120363@g.us", Group: true}
	writes := func(id string, who, chat provider.Address) *provider.Message {
		return text(id, "", "hello from "+id, func(m *provider.Message) { m.Chat, m.From = chat, provider.Contact{Address: who} })
	}
	report := func(id string, who provider.Address) provider.Event {
		return &provider.Raw{ID: id, Kind: "news", Body: mustMarshal(t, map[string]string{"from": who.ChatID})}
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers = realKinds(nil) }})
		ref := f.reference(t, web.Kind)
		f.receive(t, ref,
			writes("h1", hidden, hidden), writes("h2", hidden, group), report("h3", hidden),
			writes("o1", other, other), writes("o2", other, group), report("o3", other))

		e, err := f.acc.Export(t.Context(), ref, hidden.ChatID)
		require.NoError(t, err)
		order, _ := exported(t, e)
		require.Equal(t, []string{"hello from h1", "hello from h2"}, order)
		require.Equal(t, []string{digits, hidden.ChatID}, e.IDs)
		require.Len(t, e.Reports, 1)
		require.Equal(t, "h3", e.Reports[0].ID)

		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, hidden.ChatID))
		e, err = f.acc.Export(t.Context(), ref, other.ChatID)
		require.NoError(t, err)
		order, _ = exported(t, e)
		require.Equal(t, []string{"hello from o1", "hello from o2"}, order)
		require.Len(t, e.Reports, 1)
		require.Equal(t, "o3", e.Reports[0].ID)

		// Once nobody else has the number, what is held under it belongs to the
		// contact: the hidden id was taken for a phone number then.
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, other.ChatID))
		f.receive(t, ref, writes("h4", hidden, hidden), report("o4", other))
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, hidden.ChatID))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_raw`))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_lid`))
	})
}

func mustMarshal(t testing.TB, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}
