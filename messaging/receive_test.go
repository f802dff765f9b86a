package messaging_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares JSON, byte by byte, with a file that -update writes.
func golden(t testing.TB, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, got, "", "  "))
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

func TestReceiveText(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		require.EqualValues(t, 1, ref, "the golden files hold it")
		f.receive(t, ref, text("m1", "16505551234", "Olá \u2028<b>&", func(m *provider.Message) {
			m.From.Name, m.From.VerifiedBizName = "Ana", "Ana Ltd"
		}))
		f.receive(t, ref, status("m1", provider.StatusRead))

		evs := f.sink.all(t)
		require.Len(t, evs, 2)
		golden(t, "message.json", evs[0].Payload)
		golden(t, "status.json", evs[1].Payload)
		for i, kind := range []messaging.EventType{messaging.EventMessage, messaging.EventStatus} {
			require.Equal(t, kind, evs[i].Type)
			require.Equal(t, messaging.OneAccount, evs[i].Account)
			require.Equal(t, "16505551234", evs[i].ChatID)
			require.Equal(t, "m1", evs[i].MessageID)
			require.Equal(t, evs[0].Key, evs[i].Key)
			require.Equal(t, epoch, evs[i].At)
		}
		record, err := json.Marshal(f.message(t, ref, "16505551234", "m1"))
		require.NoError(t, err)
		golden(t, "record.json", record)
		chat, err := json.Marshal(f.chat(t, ref, "+1 650 555 1234"))
		require.NoError(t, err)
		golden(t, "chat.json", chat)
	})
}

func TestReceiveOtherContent(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		content provider.Content
		change  func(*provider.Message)
	}{
		{name: "location", content: provider.Location{Latitude: 48.85, Longitude: 2.29, Name: "Tower", Address: "Paris"}},
		{name: "reaction", content: provider.Reaction{MessageID: "m0", Emoji: "👍"}},
		{name: "reply", content: provider.Reply{ID: "yes", Title: "Yes please"}},
		{name: "unsupported", content: provider.Unknown{Kind: "hologram"}},
		{name: "context", content: provider.Text{Text: "to that"}, change: func(m *provider.Message) {
			m.ReplyTo, m.Forwarded, m.Referral = "m0", true, &provider.Referral{Body: json.RawMessage(`{"source_url":"https://example.com/ad","b":1,"a":2}`)}
		}},
		{name: "group", content: provider.Text{Text: "to all"}, change: func(m *provider.Message) {
			m.From = provider.Contact{Address: m.Chat, Name: "Ana"}
			m.Chat = provider.Address{ChatID: "120363@g.us", Group: true}
		}},
		{name: "phone", content: provider.Text{Text: "from my phone"}, change: func(m *provider.Message) { m.Mine = true }},
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		for i, c := range cases {
			f.receive(t, ref, text(fmt.Sprintf("m%d", i), "16505551234", "", func(m *provider.Message) {
				m.Content = c.content
				if c.change != nil {
					c.change(m)
				}
			}))
			evs := f.sink.all(t)
			require.Len(t, evs, i+1)
			golden(t, "message-"+c.name+".json", evs[i].Payload)
		}
		require.Equal(t, "group", f.chat(t, ref, "120363@g.us").Kind)
		require.NotNil(t, f.chat(t, ref, "16505551234").Handoff, "a person wrote on the account's phone")
	})
}

func TestChatFollowsItsMessages(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		at := func(d time.Duration, name string) func(*provider.Message) {
			return func(m *provider.Message) { m.At, m.From.Name = epoch.Add(d), name }
		}
		f.receive(t, ref, text("a1", "111", "one", at(-3*time.Hour, "Ana")))
		f.receive(t, ref, text("b1", "222", "two", at(-2*time.Hour, "Bob")))
		f.receive(t, ref, text("a2", "111", "three", at(-time.Hour, "Ana Lima")), text("a0", "111", "late", at(-4*time.Hour, "")))

		ana := f.chat(t, ref, "111")
		require.Equal(t, "Ana Lima", ana.Name, "the newest name, and an empty one is no name")
		require.EqualValues(t, 3, ana.Unread)
		require.Equal(t, epoch.Add(23*time.Hour), ana.WindowExpiresAt.Time, "counts from the contact's newest message")
		require.Equal(t, "111", *ana.Phone)
		require.Equal(t, 1, ana.BotActive)

		order := func() (ids []string) {
			page, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{})
			require.NoError(t, err)
			for _, c := range page.Items {
				ids = append(ids, c.ID)
			}
			return ids
		}
		require.Equal(t, []string{"111", "222"}, order())
		f.receive(t, ref, text("b2", "222", "four", at(0, "Bob")))
		require.Equal(t, []string{"222", "111"}, order())

		_, err := f.acc.UpdateChat(t.Context(), ref, "111", messaging.ChatChange{Name: ptr("Best customer")})
		require.NoError(t, err)
		f.receive(t, ref, text("a3", "111", "five", at(0, "Ana L.")))
		require.Equal(t, "Best customer", f.chat(t, ref, "111").Name, "a user's name for a chat stays")
		require.Equal(t, "Ana L.", f.message(t, ref, "111", "a3").PushName)
		_, err = f.acc.UpdateChat(t.Context(), ref, "111", messaging.ChatChange{Name: ptr("")})
		require.NoError(t, err)
		require.Equal(t, "Ana L.", f.chat(t, ref, "111").Name)
	})
}

func TestRepeatsChangeNothing(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "one"), text("m1", "111", "one"), text("m2", "111", "two"))
		f.receive(t, ref, text("m1", "111", "one"))
		var all errgroup.Group
		for range 16 {
			all.Go(func() error {
				return f.svc.Receive(t.Context(), ref, []provider.Event{
					text("m3", "111", "three"), text("m2", "111", "two"), status("m3", provider.StatusRead),
				})
			})
		}
		require.NoError(t, all.Wait())
		require.Len(t, f.sink.all(t), 4, "three messages and one that was read")
		require.EqualValues(t, 2, f.chat(t, ref, "111").Unread)
		require.Len(t, f.messages(t, ref, "111"), 3)
	})
}

func TestReceiveForUnknownReference(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		err := f.svc.Receive(t.Context(), 99, []provider.Event{text("m1", "111", "one")})
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}

func TestPoisonCostsNoNeighbour(t *testing.T) {
	t.Parallel()
	long := string(bytes.Repeat([]byte("x"), 10_000))
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref,
			text("ok1", "111", "good"),
			text(long, "111", "an id that no index holds"),
			text("m2", long, "a chat that no index holds"),
			text("", "111", "no id"),
			text("nul\x00id", "111", "nul \x00 and \xff\xfe bytes \xed\xa0\x80"),
			text("m3", "333", "names", func(m *provider.Message) {
				m.From.Name = long + "\x00"
				m.Chat.UserID, m.Chat.LID = long, "\x00"
				m.Referral = &provider.Referral{Body: json.RawMessage("{no json")}
			}),
			text("m4", "111", "", func(m *provider.Message) { m.Content = nil }),
			text("m5", "111", "", func(m *provider.Message) { m.At = time.Date(300_000, 1, 1, 0, 0, 0, 0, time.UTC) }),
			text("m6", "111", "", func(m *provider.Message) { m.Content = provider.Location{Latitude: nan()} }),
			status("ok1", 77), status(long, provider.StatusRead), &provider.StatusChange{Status: provider.StatusRead},
			&provider.Raw{Kind: long, ID: long, Body: json.RawMessage("{\"a\":\"\x00\"}")},
			status("ok1", provider.StatusRead),
		)
		require.Equal(t, []string{"message:DELIVERED", "status:READ"}, f.sink.of(t, "ok1"))
		require.Equal(t, "nul  and � bytes �", f.message(t, ref, "111", "nulid").Text)
		require.NotNil(t, f.message(t, ref, "111", "m4").Unsupported)
		require.Equal(t, epoch, f.message(t, ref, "111", "m5").MessageTimestamp.Time)
		require.LessOrEqual(t, len(f.message(t, ref, "333", "m3").PushName), 512)
		require.Equal(t, 7, count(t, db, `SELECT count(*) FROM messaging_dead_letter`))
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_raw`))
	})
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestRawEventsAreKeptAndCounted(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var mu sync.Mutex
		counts := map[string]int{}
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) {
			o.Observer = &messaging.Observer{Received: func(k provider.Kind, what string, n int) {
				mu.Lock()
				defer mu.Unlock()
				counts[string(k)+" "+what] += n
			}}
		}})
		ref := f.reference(t, testKind)
		image := &provider.Raw{ID: "r1", Kind: "image", Body: json.RawMessage(`{"id":"r1"}`)}
		f.receive(t, ref, image, image, &provider.Raw{ID: "r1", Kind: "video", Body: json.RawMessage(`{}`)})
		f.receive(t, ref, image, text("m1", "111", "one"), status("m1", provider.StatusRead))
		require.Equal(t, 2, count(t, db, `SELECT count(*) FROM messaging_raw`))
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_raw WHERE body = '{"id":"r1"}'`))
		require.Len(t, f.sink.all(t), 2, "what is not interpreted makes no event")
		require.Equal(t, map[string]int{
			"provider-test raw:image": 3, "provider-test raw:video": 1, "provider-test message": 1, "provider-test status": 1,
		}, counts)
	})
}
