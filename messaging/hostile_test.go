package messaging_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// TestHostileReports: nothing that a report may hold costs its neighbours
// anything.
func TestHostileReports(t *testing.T) {
	t.Parallel()
	for what, s := range map[string]string{"long": strings.Repeat("x", 10_000), "NUL": "a\x00b", "no UTF-8": "a\xff\xfeb", "empty": ""} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			bad := provider.Address{ChatID: s, Phone: s, UserID: s, LID: s}
			who := provider.Contact{Address: bad, Name: s, VerifiedBizName: s, Username: s}
			raw := func(kind string) provider.Raw {
				return provider.Raw{ID: kind + s, Kind: kind, Body: json.RawMessage(s)}
			}
			early, late := time.Date(-300_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(300_000, 1, 1, 0, 0, 0, 0, time.UTC)
			testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				f := setup(t, db, config{idle: true})
				ref := f.reference(t, testKind)
				named := status("e1", provider.StatusRead)
				named.To, named.At, named.WindowUntil, named.Error = bad, early, late, &provider.Failure{Code: s, Message: s}
				f.receive(t, ref,
					text("m1", "111", "first"), text("e1", "111", "echo", func(m *provider.Message) { m.Mine = true }),
					&provider.Call{Raw: raw("a"), CallID: s, Chat: bad, Status: provider.CallRinging, At: early},
					&provider.Call{Raw: raw("b"), CallID: "c1", Chat: phone("111"), From: who, Status: provider.CallRinging, At: late},
					&provider.ContactChange{Raw: raw("c"), What: provider.ContactMoved, Chat: bad, To: phone("222"), At: late},
					&provider.ContactChange{Raw: raw("d"), What: provider.ContactMoved, Chat: phone("333"), To: bad, At: early},
					&provider.ContactChange{Raw: raw("e"), What: provider.ContactSaved, Chat: phone("111"), Name: s, At: late},
					&provider.GroupChange{Raw: raw("f"), Chat: provider.Address{ChatID: s, Group: true}, Subject: s},
					&provider.GroupChange{Raw: raw("g"), Chat: provider.Address{ChatID: "1@g.us", Group: true}, Subject: s, At: late},
					&provider.TemplateChange{Raw: raw("h"), TemplateID: s, Name: s, Language: s, Status: s, Reason: s, Quality: s, Category: s, Text: s, At: late},
					&provider.Health{Raw: raw("i" + s), Level: provider.HealthWarning, Code: provider.HealthCode(s), State: s, Detail: s, Phone: s, At: early},
					&provider.Health{Raw: raw("i" + s), Level: provider.HealthWarning, Error: &provider.Failure{Code: s, Message: s}, At: late},
					&provider.HistoryProgress{Raw: raw("j"), Percent: 1 << 40},
					named,
					text("m2", "111", "", func(m *provider.Message) {
						m.From, m.Edits, m.ReplyTo, m.WindowUntil = who, s, s, late
						m.Content = provider.Media{Kind: provider.MediaKind(s), ID: s, URL: s, Caption: s, FileName: s, File: provider.File{MIME: s, Title: s}}
						m.Error = &provider.Failure{Code: s, Message: s}
					}),
					text("m3", "111", "", func(m *provider.Message) { m.Content = provider.Form{Name: s, Text: s, Data: s} }),
					text("m4", "111", "", func(m *provider.Message) {
						m.Content = provider.Contacts{Contacts: []provider.Card{{Name: provider.CardName{Formatted: s}, VCard: s}}}
					}),
					text("m5", "111", "last"),
				)
				require.Len(t, f.messages(t, ref, "111"), 6)
				require.Equal(t, []string{"message:SENDING", "status:READ"}, f.sink.of(t, "e1"))
				for _, e := range f.sink.all(t) {
					require.True(t, json.Valid(e.Payload))
					require.NotContains(t, string(e.Payload), `\u0000`)
				}
				_, err := f.acc.Sessions().Status(t.Context(), ref)
				require.NoError(t, err)
			})
		})
	}
}

// FuzzCallback stores whatever a network may post to a WhatsApp number. It is
// never refused, a repeat changes nothing, and every payload reads as what it
// is.
func FuzzCallback(f *testing.F) {
	seeds, err := filepath.Glob("../provider/cloud/testdata/callbacks/*.json")
	require.NoError(f, err)
	for _, path := range seeds {
		if strings.HasSuffix(path, ".golden.json") {
			continue
		}
		raw, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(raw)
	}
	db := testkit.Open(f, testkit.SQLiteURL(f))
	x := setup(f, db, config{idle: true})
	ref := x.reference(f, testKind)
	network := cloud.New(nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		parts, err := network.Route(body)
		if err != nil {
			return
		}
		var evs []provider.Event
		for _, p := range parts {
			more, _ := network.Parse(p)
			evs = append(evs, more...)
		}
		_, err = db.ExecContext(t.Context(), `DELETE FROM test_event`)
		require.NoError(t, err)
		x.receive(t, ref, evs...)
		published := x.sink.all(t)
		for _, e := range published {
			if e.Type != messaging.EventMessage {
				continue
			}
			var p messaging.MessagePayload
			require.NoError(t, json.Unmarshal(e.Payload, &p))
			require.Contains(t, payloadTypes, p.Type)
			again, err := json.Marshal(p)
			require.NoError(t, err)
			require.JSONEq(t, string(e.Payload), string(again))
		}
		x.receive(t, ref, evs...)
		require.Len(t, x.sink.all(t), len(published), "a repeat makes no event")
	})
}
