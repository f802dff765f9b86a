package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// The contact whose every trace is to go, and whom it must not touch. The
// bystander's number begins with the contact's.
const (
	canaryPhone    = "4930700"
	canaryUser     = "u.canary"
	bystanderPhone = "49307001"
	family         = "777@g.us"
)

// canaries are the words that are planted with the contact.
func canaries() []string {
	return []string{"canary", canaryPhone + "\"", canaryPhone + " ", canaryPhone + ":"}
}

var canaryAddress = provider.Address{ChatID: canaryPhone, Phone: canaryPhone, UserID: canaryUser}

// canary is a message of the contact.
func canary(id string, content provider.Content) *provider.Message {
	return &provider.Message{
		ID: id, Chat: canaryAddress, At: epoch, Content: content,
		From: provider.Contact{Address: canaryAddress, Name: "Canary Lima", VerifiedBizName: "Canary Ltd", Username: "canary.lima"},
	}
}

// inGroup is a message that somebody wrote in the group.
func inGroup(id string, from provider.Address, name, words string) *provider.Message {
	return &provider.Message{
		ID: id, Chat: provider.Address{ChatID: family, Group: true}, At: epoch, Content: provider.Text{Text: words},
		From: provider.Contact{Address: from, Name: name},
	}
}

// raw is a report of which the contact is part.
func raw(id, kind string) provider.Raw {
	return provider.Raw{ID: id, Kind: kind, Body: json.RawMessage(`{"wa_id":"` + canaryPhone + `","note":"canary ` + id + `"}`)}
}

// plant makes the service hold something of every kind on the contact. A file
// comes when the gate is closed; the channel that is returned says that it did.
func (f *mediaFixture) plant(t *testing.T, ref provider.ReferenceID, gate <-chan struct{}) <-chan struct{} {
	t.Helper()
	f.depot.put("file", picture(t, 3, 2), nil)
	asked, came, late := make(chan struct{}), make(chan struct{}), picture(t, 4, 5)
	f.depot.script("late", func(ctx context.Context, w io.Writer, _ int) error {
		close(asked)
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
		_, err := w.Write(late)
		close(came)
		return err
	})
	image := func(id, name string) provider.Media {
		return provider.Media{Kind: provider.Image, ID: id, FileName: name, Caption: "see " + name}
	}
	f.receive(
		t, ref,
		text("by id", canaryUser, "canary by id", from("", canaryUser)),
		canary("hello", provider.Text{Text: "canary hello"}), canary("image", image("file", "canary.png")),
		canary("unknown", provider.Unknown{Kind: "hologram", Body: json.RawMessage(`{"hologram":"canary"}`)}),
		&provider.ContactChange{Raw: raw("identity", "identity"), What: provider.ContactIdentity, Chat: canaryAddress, At: epoch},
		&provider.Raw{ID: "other", Kind: "news", Body: json.RawMessage(`{"from":"` + canaryPhone + `","text":"canary"}`)},
		&provider.Call{Raw: raw("call", "call"), CallID: "call", Chat: canaryAddress, From: provider.Contact{Address: canaryAddress, Name: "Canary"}, Status: provider.CallRinging, At: epoch},
		inGroup("g1", canaryAddress, "Canary Lima", "canary in the group"), inGroup("g2", provider.Address{ChatID: bystanderPhone, Phone: bystanderPhone}, "Ben", "hello family"),
		inGroup("g3", canaryAddress, "Canary Lima", "canary last in the group"),
		text("ben", bystanderPhone, "hello from ben"),
	)
	f.until(t, "the file is here", func() bool { return f.message(t, ref, canaryPhone, "image").FileURL != "" })
	_, err := f.acc.UpdateChat(t.Context(), ref, canaryPhone, messaging.ChatChange{
		Name: ptr("Canary label"), Tags: []string{"canary tag"}, Variables: map[string]json.RawMessage{"canary": json.RawMessage(`"canary"`)},
		Fields: map[string]json.RawMessage{"crm": json.RawMessage(`"canary"`)}, Language: ptr("canary"),
	})
	require.NoError(t, err)
	f.send(t, messaging.SendRequest{Reference: ref, ChatID: canaryPhone, Content: provider.Text{Text: "canary answer"}, IdempotencyKey: "key", Wait: timeout})
	f.depot.net.fail(&provider.Rejected{Code: "7", Message: "canary refused"})
	_, err = f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: canaryPhone, Content: provider.Text{Text: "canary refused"}, Wait: timeout})
	require.Error(t, err)
	f.receive(t, ref, canary("waits", image("late", "canary waits.png")), canary("behind", provider.Text{Text: "canary behind it"}))
	for _, q := range []string{
		`INSERT INTO messaging_dead_letter (reference, digest, reason, body, created_us) VALUES ($1, 'd', 'canary is no array', '{"wa_id":"` + canaryPhone + `"}', 1)`,
		`INSERT INTO messaging_dead_letter (reference, letter_id, digest, reason, body, part, created_us) VALUES ($1, '1', 'e', 'not read', '{}', '{"canary":"` + canaryPhone + `"}', 1)`,
		`INSERT INTO messaging_number (reference, number, answer, chat_id, created_us) VALUES ($1, '` + canaryPhone + `', 1, '` + canaryPhone + `', 1)`,
		`INSERT INTO messaging_number (reference, number, answer, chat_id, created_us) VALUES ($1, '1', 1, '` + canaryUser + `', 1)`,
	} {
		_, err := f.db.ExecContext(t.Context(), q, ref)
		require.NoError(t, err)
	}
	<-asked
	return came
}

// others are the rows that speak of nobody but others, by their tables.
func others(t *testing.T, db *sqlx.DB) []string {
	t.Helper()
	out := []string{}
	for _, row := range testkit.Contents(t, db) {
		table, _, _ := strings.Cut(row, " ")
		switch {
		case strings.HasPrefix(table, "queue_"), strings.HasPrefix(table, "goose"), strings.HasPrefix(table, "sqlite_"), table == "test_event", table == "clock_mark":
		case table == "messaging_reference", table == "messaging_change": // its health changes; it ends with a resync
		case table == "messaging_chat" && strings.Contains(row, family): // it has less now
		case strings.Contains(row, "canary"), strings.Contains(row, "Canary"), matchesTerm(row):
		default:
			out = append(out, row)
		}
	}
	return out
}

func matchesTerm(row string) bool {
	return strings.Contains(strings.ReplaceAll(row, bystanderPhone, ""), canaryPhone)
}

// TestDeleteChat erases every trace of a contact, and nothing else.
func TestDeleteChat(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref, gate := f.reference(t, filesKind), make(chan struct{})
		come := sync.OnceFunc(func() { close(gate) })
		t.Cleanup(come)
		came := f.plant(t, ref, gate)
		planted := map[string]bool{}
		for _, row := range testkit.Holding(t, f.db, "canary") {
			table, _, _ := strings.Cut(row, " ")
			planted[table] = true
		}
		for _, table := range []string{"alias", "chat", "message", "outbound", "raw", "dead_letter", "change", "media", "deferred", "number"} {
			require.True(t, planted["messaging_"+table], table)
		}
		link := f.message(t, ref, canaryPhone, "image").FileURL
		before := others(t, f.db)

		require.ErrorIs(t, f.svc.For("another").DeleteChat(t.Context(), ref, canaryPhone), messaging.ErrNotFound)
		require.ErrorIs(t, f.acc.DeleteChat(t.Context(), ref, "123"), messaging.ErrNotFound)
		require.Equal(t, before, others(t, f.db))
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, canaryUser))

		gone := func() bool { return count(t, f.db, `SELECT count(*) FROM messaging_media WHERE gone`) == 0 }
		f.until(t, "the files are gone", gone)
		come()
		select {
		case <-came:
		case <-time.After(timeout):
			require.Fail(t, "the file did not come")
		}
		f.until(t, "the file that came late, too", func() bool { return f.files(t) == 0 })
		for _, word := range canaries() {
			require.Empty(t, testkit.Holding(t, f.db, word), word)
		}
		for _, row := range testkit.Contents(t, f.db) {
			require.False(t, matchesTerm(row), row)
		}
		require.Equal(t, without(before, "messaging_outbound", "messaging_call", "messaging_idempotency"), without(others(t, f.db), "messaging_outbound"))
		status, _ := f.served(t, link)
		require.Equal(t, 404, status)
		require.ErrorIs(t, f.acc.DeleteChat(t.Context(), ref, canaryPhone), messaging.ErrNotFound)

		group := f.chat(t, ref, family)
		require.Equal(t, "hello family", group.LastMessage.Text)
		require.EqualValues(t, 1, group.Unread)
		f.receive(t, ref, canary("new", provider.Text{Text: "back again"}))
		require.Len(t, f.messages(t, ref, canaryPhone), 1, "what comes later begins a new chat")
		require.Empty(t, f.chat(t, ref, canaryPhone).Tags)
	})
}

// files counts what is in the library.
func (f *mediaFixture) files(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(f.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// without leaves out the rows of tables in which nothing names the contact.
func without(rows []string, tables ...string) []string {
	out := []string{}
	for _, row := range rows {
		keep := true
		for _, table := range tables {
			keep = keep && !strings.HasPrefix(row, table+" ")
		}
		if keep {
			out = append(out, row)
		}
	}
	return out
}

// TestDeleteWithoutChat erases somebody who has only written in a group.
func TestDeleteWithoutChat(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, inGroup("g1", canaryAddress, "Canary", "canary"))
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, "+49 307 00"))
		require.Empty(t, testkit.Holding(t, db, "canary"))
		require.Nil(t, f.chat(t, ref, family).LastMessage)
		require.Zero(t, f.chat(t, ref, family).Unread)
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, family))
		require.Empty(t, testkit.Holding(t, db, family))
	})
}

// eraser erases, or fails.
type eraser struct {
	erased []messaging.Erased
	err    error
}

func (e *eraser) Erase(_ context.Context, x messaging.Erased) error {
	x.Before = time.Time{}
	e.erased = append(e.erased, x)
	return e.err
}

// TestErasers erases elsewhere first. A deletion that fails continues where it
// was.
func TestErasers(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		e := &eraser{}
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Erasers = append(o.Erasers, e) }})
		ref := f.reference(t, testKind)
		f.receive(t, ref, canary("m1", provider.Text{Text: "hi"}), inGroup("g1", canaryAddress, "Canary", "canary"))
		wrong := errors.New("no job")
		_, err := f.acc.HideChat(t.Context(), ref, canaryPhone, func(context.Context, *database.Tx, messaging.Erasure) error { return wrong })
		require.ErrorIs(t, err, wrong)
		require.Len(t, f.messages(t, ref, canaryPhone), 1, "nothing was hidden")
		var kept []byte
		_, err = f.acc.HideChat(t.Context(), ref, canaryPhone, func(_ context.Context, _ *database.Tx, x messaging.Erasure) (err error) {
			kept, err = json.Marshal(x)
			return err
		})
		require.NoError(t, err)
		_, err = f.acc.Chat(t.Context(), ref, canaryPhone)
		require.ErrorIs(t, err, messaging.ErrNotFound)
		_, err = f.acc.Message(t.Context(), ref, "", "m1")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		require.NoError(t, f.svc.Receive(t.Context(), ref, []provider.Event{status("m1", provider.StatusRead)}), "of a message that is not shown")

		var x messaging.Erasure
		require.NoError(t, json.Unmarshal(kept, &x))
		e.err = errors.New("not now")
		require.ErrorIs(t, f.acc.Erase(t.Context(), x), e.err)
		e.err = nil
		require.NoError(t, f.acc.Erase(t.Context(), x))
		require.NoError(t, f.acc.Erase(t.Context(), x), "once more")
		want := messaging.Erased{Account: messaging.OneAccount, Reference: ref, ChatIDs: []string{canaryPhone, canaryUser}, MessageIDs: []string{"g1"}}
		require.Equal(t, []messaging.Erased{want, want}, e.erased[:2])
		require.Empty(t, testkit.Holding(t, db, "canary"))
	})
}

// TestWrittenWhileHidden has a contact write while the chat is being hidden: the
// message waits for that, and is in a chat of its own. Only PostgreSQL has two
// who write at once.
func TestWrittenWhileHidden(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.PostgresURL(t))
	f := setup(t, db, config{idle: true})
	ref := f.reference(t, testKind)
	f.receive(t, ref, canary("m1", provider.Text{Text: "before"}))
	written := make(chan error, 1)
	e, err := f.acc.HideChat(t.Context(), ref, canaryPhone, func(context.Context, *database.Tx, messaging.Erasure) error {
		go func() {
			written <- f.svc.Receive(t.Context(), ref, []provider.Event{canary("m2", provider.Text{Text: "after"})})
		}()
		awaitLock(t, db)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, <-written)
	require.NoError(t, f.acc.Erase(t.Context(), e))
	left := f.messages(t, ref, canaryPhone)
	require.Len(t, left, 1)
	require.Equal(t, "m2", left[0].ID)
}

// TestDeleteWhileSending deletes chats under load: nothing is left, and nothing
// breaks.
func TestDeleteWhileSending(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, ownIDsKind)
		for i := range 5 {
			done := make(chan error, 1)
			go func() {
				for j := range 10 {
					id := fmt.Sprintf("%d.%d", i, j)
					if err := f.svc.Receive(t.Context(), ref, []provider.Event{canary(id, provider.Text{Text: "canary"}), status(id, provider.StatusRead)}); err != nil {
						done <- err
						return
					}
					_, err := f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: canaryPhone, Content: provider.Text{Text: "canary " + id}})
					if err != nil && !errors.Is(err, messaging.ErrNotFound) {
						done <- err
						return
					}
				}
				done <- nil
			}()
			for running := true; running; {
				select {
				case err := <-done:
					require.NoError(t, err)
					running = false
				default:
				}
				err := f.acc.DeleteChat(t.Context(), ref, canaryPhone)
				require.True(t, err == nil || errors.Is(err, messaging.ErrNotFound), err)
			}
		}
		require.Empty(t, testkit.Holding(t, db, "canary"))
		f.receive(t, ref, text("later", "222", "works", func(m *provider.Message) { m.At = epoch.Add(time.Second) }))
		require.Len(t, f.messages(t, ref, "222"), 1)
	})
}

// TestDeleteChat_PhoneBook erases a contact whom the account's phone has in its phone
// book. When the phone reports that again, nothing is listed but what is written then.
func TestDeleteChat_PhoneBook(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		saved := func(minute int) *provider.ContactChange {
			return contact(provider.ContactSaved, "111", minute, func(c *provider.ContactChange) { c.Name = "Ana from work" })
		}
		list := func() []messaging.Chat {
			page, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{})
			require.NoError(t, err)
			return page.Items
		}
		f.receive(t, ref, saved(1), text("m1", "111", "hi"))
		require.Len(t, list(), 1)
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, "111"))
		f.receive(t, ref, saved(2))
		require.Empty(t, list())
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_message`))
		f.receive(t, ref, text("m2", "111", "me again"))
		require.Equal(t, "Ana from work", list()[0].Name)
		require.Len(t, f.messages(t, ref, "111"), 1)
	})
}
