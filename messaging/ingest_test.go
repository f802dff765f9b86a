package messaging_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
)

// TestStatementsOfABatchFail has each statement fail of a batch with one event of each
// kind: nothing of it is stored until all is.
func TestStatementsOfABatchFail(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f := setup(t, seen, config{idle: true})
		ref := f.reference(t, testKind)
		group := provider.Address{ChatID: "g1", Group: true}
		own := func(m *provider.Message) { m.Mine = true }
		f.receive(t, ref,
			text("m0", "111", "Hello"), text("h0", "222", "once", historical), text("m9", "222", "later"), text("o0", "111", "own", own),
			text("g0", "", "in the group", func(m *provider.Message) { m.Chat = group }), status("later", provider.StatusRead))
		batch := []provider.Event{
			text("m1", "111", "Hello"), text("m2", "333", "Hello"), text("h1", "222", "before", historical), text("h0", "222", "once"),
			text("e1", "111", "own", own),
			status("e1", provider.StatusRead), status("unknown", provider.StatusRead), status("m0", provider.StatusRead),
			&provider.StatusChange{Status: provider.StatusRead, To: phone("111"), UpTo: epoch.Add(time.Hour)},
			contact(provider.ContactSaved, "111", 1), contact(provider.ContactOptedOut, "111", 2), contact(provider.ContactMoved, "333", 3, to("444")),
			&provider.GroupChange{Raw: rawID("g"), Chat: group, Subject: "Friends", At: epoch},
			&provider.Call{Raw: rawID("c"), CallID: "c1", Chat: phone("111"), From: provider.Contact{Address: phone("111")}, Status: provider.CallRinging, At: epoch},
			&provider.TemplateChange{Raw: rawID("t"), TemplateID: "1", Name: "hello", Language: "en", Status: "APPROVED", At: epoch},
			&provider.Handover{Raw: rawID("o"), Chat: phone("111"), At: epoch},
			&provider.Health{Raw: rawID("w"), At: epoch},
			&provider.Raw{ID: "r", Kind: "other", Body: json.RawMessage(`{}`)},
			text("", "111", "a dead letter"),
		}
		before := count(t, db, `SELECT count(*) FROM messaging_message`)
		asked.FailEach(t, func() error {
			require.Equal(t, before, count(t, db, `SELECT count(*) FROM messaging_message`))
			return f.svc.Receive(t.Context(), ref, batch)
		})
		require.Equal(t, before+4, count(t, db, `SELECT count(*) FROM messaging_message`))
		require.Equal(t, []string{"message:DELIVERED", "status:READ"}, f.sink.of(t, "m0"))
		require.Equal(t, "READ", f.message(t, ref, "111", "o0").Status, "by the time up to which all is read")

		_, err := db.ExecContext(t.Context(), `INSERT INTO messaging_early_status (reference, message_id, status, error_code, error_message, at_us, window_us, created_us)
			VALUES ($1, 'g0', $2, '', '', 0, 0, $3)`, ref, int(provider.StatusRead), epoch.UnixMicro())
		require.NoError(t, err)
		asked.FailEach(t, func() error { return f.svc.ApplyEarlies(t.Context()) })
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_early_status WHERE message_id = 'g0'`))
	})
}

func historical(m *provider.Message) { m.Historical = true }

// TestStatusesAreAdmitted applies what statuses say after their names are made fit, and
// keeps those that name nothing as dead letters.
func TestStatusesAreAdmitted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 513)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		own := func(m *provider.Message) { m.Mine = true }
		f.receive(t, ref, text("a\x00b", "111", "hi", own), text("m2", "111", "hi", own), text("m3", "111", "hi", own), text("m4", "111", "hi", own))
		f.receive(t, ref,
			status("a\x00b", provider.StatusRead),
			&provider.StatusChange{MessageID: "m2", Status: provider.StatusRead, To: provider.Address{ChatID: long}},
			&provider.StatusChange{MessageID: "m3", OwnID: long, Status: provider.StatusRead},
			&provider.StatusChange{MessageID: "m4", OwnID: long[1:], Status: provider.StatusRead},
			&provider.StatusChange{Status: provider.StatusRead, To: phone("111")},
			&provider.StatusChange{Status: provider.StatusRead, UpTo: epoch},
			&provider.StatusChange{MessageID: "m3", Status: provider.StatusPlayed + 1},
		)
		for id, want := range map[string]string{"ab": "READ", "m2": "READ", "m4": "READ"} {
			require.Equal(t, want, f.message(t, ref, "111", id).Status, id)
		}
		require.NotEqual(t, "READ", f.message(t, ref, "111", "m3").Status)
		require.Equal(t, 4, count(t, db, `SELECT count(*) FROM messaging_dead_letter`))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_alias WHERE length(alias) > 512`))
	})
}

// TestReportsAreAdmitted keeps reports without an id by their content, and takes names
// out of reports after they are made fit.
func TestReportsAreAdmitted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 513)
	raw := func(id, body string) provider.Raw {
		return provider.Raw{ID: id, Kind: "report", Body: json.RawMessage(body)}
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		one, two, three, again := raw("", `1`), raw("", `2`), raw(long, `3`), raw("", `1`)
		template := func(body, id, name, language string) *provider.TemplateChange {
			return &provider.TemplateChange{Raw: raw("", body), TemplateID: id, Name: name, Language: language, Status: "APPROVED", At: epoch}
		}
		f.receive(t, ref, &one, &two, &three, &again, template(`4`, "1", "hello", "en"), template(`5`, "1", "hello", "en"),
			template(`6`, long, "a", "en"), template(`7`, "2", long, "en"), template(`8`, "3", "a", long))
		require.Equal(t, 8, count(t, db, `SELECT count(*) FROM messaging_raw`))

		group := provider.Address{ChatID: "g\x001", Group: true}
		f.receive(t, ref, text("m1", "", "hi", func(m *provider.Message) { m.Chat = group }))
		f.receive(t, ref, &provider.GroupChange{Raw: raw("g1", `{}`), Chat: group, Subject: "Fri\x00ends", At: epoch})
		require.Equal(t, "Friends", f.chat(t, ref, "g1").Name)
		shown := len(f.news(t, "chat"))
		f.receive(t, ref, &provider.GroupChange{Raw: raw("g2", `{}`), Chat: group, Subject: "Friends", At: epoch.Add(time.Minute)})
		require.Len(t, f.news(t, "chat"), shown, "the same subject is no news")
		f.receive(t, ref, &provider.GroupChange{Raw: raw("g3", `{}`), Chat: group, At: epoch.Add(time.Minute)})
		require.Len(t, f.news(t, "chat"), shown, "it has no subject")
		require.Equal(t, "Friends", f.chat(t, ref, "g1").Name)
		f.receive(t, ref, &provider.GroupChange{Raw: raw("g4", `{}`), Chat: group, Subject: "Foes", At: epoch.Add(2 * time.Minute)})
		require.Len(t, f.news(t, "chat"), shown+1)
		f.receive(t, ref, &provider.GroupChange{Raw: raw("g5", `{}`), Chat: group, Subject: "Late", At: epoch})
		require.Equal(t, "Foes", f.chat(t, ref, "g1").Name)
	})
}

// TestUnreadOfHistory counts what the contact wrote and nobody has read.
func TestUnreadOfHistory(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("h1", "111", "read on the phone", historical, func(m *provider.Message) { m.Status = provider.StatusRead }))
		require.Zero(t, f.chat(t, ref, "111").Unread)
		f.receive(t, ref, text("h1", "111", "read on the phone"))
		require.Zero(t, f.chat(t, ref, "111").Unread, "it was read before")
		require.Equal(t, "READ", f.message(t, ref, "111", "h1").Status)
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_message WHERE past_us > 0`), "it is no history any more")
		f.receive(t, ref, text("m1", "111", "new"))
		require.EqualValues(t, 1, f.chat(t, ref, "111").Unread)
	})
}
