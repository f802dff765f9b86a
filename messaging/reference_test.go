package messaging_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

func requireInvalid(t testing.TB, err error, field string) {
	t.Helper()
	var invalid *messaging.Invalid
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, field, invalid.Field)
}

func requireCode(t testing.TB, err error, code string) *messaging.Error {
	t.Helper()
	var refused *messaging.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, code, refused.Code)
	return refused
}

// cloudSettings are valid; change overrides some.
func cloudSettings(change map[string]string) map[string]string {
	out := map[string]string{
		"phoneNumberId": "1001", "businessAccountId": "2001", "accessToken": "token-of-the-owner",
		"appSecret": "secret-of-the-app", "verifyToken": "open sesame",
	}
	for k, v := range change {
		out[k] = v
	}
	return out
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers = append(o.Providers, cloud.New(nil)) }})
		for _, c := range []struct {
			n     messaging.NewReference
			field string
		}{
			{messaging.NewReference{Name: "x", Type: "provider-fax"}, "type"},
			{messaging.NewReference{Name: " ", Type: sandbox.Kind}, "name"},
			{messaging.NewReference{Name: strings.Repeat("x", 201), Type: sandbox.Kind}, "name"},
			{messaging.NewReference{Name: "x", Type: sandbox.Kind, Settings: map[string]string{"colour": "red"}}, "settings.colour"},
			{messaging.NewReference{Name: "x", Type: cloud.Kind, Settings: cloudSettings(map[string]string{"accessToken": ""})}, "settings.accessToken"},
			{messaging.NewReference{Name: "x", Type: cloud.Kind, Settings: cloudSettings(map[string]string{"accessToken": strings.Repeat("x", 5000)})}, "settings.accessToken"},
			{messaging.NewReference{Name: "x", Type: cloud.Kind, Settings: cloudSettings(map[string]string{"accessToken": "••••wner"})}, "settings.accessToken"},
		} {
			_, err := f.acc.References().Create(t.Context(), c.n)
			requireInvalid(t, err, c.field)
		}
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_reference`))
	})
}

func TestCredentialsNeedSecrets(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Secrets = nil }})
		_, err := f.acc.References().Create(t.Context(), messaging.NewReference{Name: "x", Type: testKind, Settings: map[string]string{"token": "t"}})
		requireInvalid(t, err, "settings.token")
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_reference`))
		f.reference(t, testKind, map[string]string{"host": "example.com"})
	})
}

func TestSecretsAreSealedAndMasked(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		const canary = "canary-of-a-token-7f3a9"
		db := testkit.Open(t, url)
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind, map[string]string{"host": "example.com", "token": canary, "pin": "1234"})
		view := func() map[string]any {
			r, err := f.acc.References().Get(t.Context(), ref)
			require.NoError(t, err)
			return r.Settings
		}
		shown := map[string]any{"host": "example.com", "token": "••••" + canary[len(canary)-4:], "pin": "••••"}
		require.Equal(t, shown, view())
		require.NotContains(t, dump(t, db, url), canary)

		// A client that sends back what it was shown changes nothing.
		update := func(s map[string]string) error {
			_, err := f.acc.References().Update(t.Context(), ref, messaging.ReferenceChange{Settings: s})
			return err
		}
		same, err := messaging.FlatSettings(shown)
		require.NoError(t, err)
		require.NoError(t, update(same))
		require.Equal(t, shown, view())
		require.Equal(t, canary, opened(t, f, ref)["token"])
		require.NoError(t, update(map[string]string{"pin": "5678", "host": ""}))
		require.Equal(t, provider.Settings{"token": canary, "pin": "5678"}, opened(t, f, ref), "an empty value removes")
		requireInvalid(t, update(map[string]string{"token": "••••else"}), "settings.token")
		requireInvalid(t, update(map[string]string{"colour": "red"}), "settings.colour")
		_, err = f.acc.References().Update(t.Context(), ref, messaging.ReferenceChange{Name: ptr("")})
		requireInvalid(t, err, "name")
		r, err := f.acc.References().Update(t.Context(), ref, messaging.ReferenceChange{Name: ptr("New name")})
		require.NoError(t, err)
		require.Equal(t, "New name", r.Name)

		// A sealed value that is pasted into another row does not open.
		other := f.reference(t, testKind, map[string]string{"token": "another"})
		_, err = db.ExecContext(t.Context(), `UPDATE messaging_reference SET settings = (SELECT settings FROM messaging_reference WHERE id = $1) WHERE id = $2`, ref, other)
		require.NoError(t, err)
		_, err = f.acc.References().Get(t.Context(), other)
		require.Error(t, err)
		require.NotContains(t, err.Error(), canary)
	})
}

// opened is what the network gets to see of a reference's settings.
func opened(t testing.TB, f *fixture, ref provider.ReferenceID) provider.Settings {
	t.Helper()
	var got provider.Settings
	f.net.mu.Lock()
	f.net.check = func(r provider.Reference) (provider.Account, error) {
		got = r.Settings
		return provider.Account{ID: "1"}, nil
	}
	f.net.mu.Unlock()
	_, err := f.acc.Sessions().Start(t.Context(), ref)
	require.NoError(t, err)
	return got
}

// dump is everything that the database holds on disk, or in its tables.
func dump(t testing.TB, db *sqlx.DB, url string) string {
	t.Helper()
	var b bytes.Buffer
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		path, _, _ = strings.Cut(path, "?")
		for _, suffix := range []string{"", "-wal"} {
			raw, err := os.ReadFile(path + suffix)
			require.NoError(t, err)
			b.Write(raw)
		}
		return b.String()
	}
	var tables []string
	require.NoError(t, db.SelectContext(t.Context(), &tables, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`))
	for _, table := range tables {
		var rows []string
		require.NoError(t, db.SelectContext(t.Context(), &rows, `SELECT CAST(row_to_json(x) AS TEXT) FROM `+table+` x`))
		b.WriteString(strings.Join(rows, "\n"))
	}
	return b.String()
}

func TestReferencesAreListed(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		var want []provider.ReferenceID
		for i := range 5 {
			id := f.reference(t, []provider.Kind{testKind, sandbox.Kind}[i%2])
			if i%2 == 0 {
				want = append(want, id)
			}
		}
		var got []provider.ReferenceID
		l := messaging.List{Limit: 2}
		for {
			page, err := f.acc.References().List(t.Context(), testKind, l)
			require.NoError(t, err)
			for _, r := range page.Items {
				got = append(got, r.ID)
			}
			if page.Next == "" {
				break
			}
			l.Cursor = page.Next
			f.reference(t, sandbox.Kind)
		}
		require.Equal(t, want, got)
		page, err := f.svc.For("nobody").References().List(t.Context(), "", messaging.List{})
		require.NoError(t, err)
		require.NotNil(t, page.Items)
		require.Empty(t, page.Items)
	})
}

func TestSessionsOfReferences(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		s, err := f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateConnected, s.State)
		require.Equal(t, epoch, s.ConnectedAt.Time)

		s, err = f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, &messaging.SessionAccount{ID: "1", Name: "Test"}, s.Account)

		s, err = f.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateLoggedOut, s.State)
		require.Nil(t, s.ConnectedAt)
		f.receive(t, ref, text("m1", "111", "still stored"))
		_, err = f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Text{Text: "hi"}})
		requireCode(t, err, messaging.CodeSessionNotConnected)

		refuse := func(with error) {
			f.net.mu.Lock()
			defer f.net.mu.Unlock()
			f.net.check = func(provider.Reference) (provider.Account, error) {
				return provider.Account{ID: "1", Name: "Test"}, with
			}
		}
		refuse(&provider.Temporary{Err: context.DeadlineExceeded})
		s, err = f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateLoggedOut, s.State, "nothing was proved")
		require.Equal(t, "network", s.LastError.Code)
		refuse(&provider.AuthExpired{Code: "190", Message: "Session has expired"})
		s, err = f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateFailed, s.State)
		require.Equal(t, "credentials", s.LastError.Code)
		require.Equal(t, "Session has expired", s.LastError.Message)
		refuse(nil)
		s, err = f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateConnected, s.State)
		require.Nil(t, s.LastError)

		var states []string
		for _, e := range f.sink.all(t) {
			if e.Type == messaging.EventSession {
				states = append(states, summary(t, e))
			}
		}
		require.Equal(t, []string{"session:LOGGED_OUT", "session:FAILED", "session:CONNECTED"}, states)
		f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		require.NoError(t, f.svc.WriteHealth(t.Context()))
		f.until(t, "signs of life", func() bool {
			s, err = f.acc.Sessions().Status(t.Context(), ref)
			require.NoError(t, err)
			return s.Health.LastInboundAt != nil && s.Health.LastAckAt != nil
		})
	})
}

// TestTenancy calls everything for a reference of somebody else.
func TestTenancy(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		a, ctx := f.svc.For("stranger"), t.Context()
		send := messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Text{Text: "x"}}
		within := func(fn func(*sqlx.Tx) error) func() error {
			return func() error {
				tx, err := db.BeginTxx(ctx, nil)
				require.NoError(t, err)
				defer tx.Rollback() //nolint:errcheck // nothing is kept
				return fn(tx)
			}
		}
		for name, call := range map[string]func() error{
			"Reference": func() error { _, err := a.References().Get(ctx, ref); return err },
			"UpdateReference": func() error {
				_, err := a.References().Update(ctx, ref, messaging.ReferenceChange{Name: ptr("x")})
				return err
			},
			"DeleteReference": func() error { return a.References().Delete(ctx, ref) },
			"SessionStatus":   func() error { _, err := a.Sessions().Status(ctx, ref); return err },
			"StartSession":    func() error { _, err := a.Sessions().Start(ctx, ref); return err },
			"Logout":          func() error { _, err := a.Sessions().Logout(ctx, ref); return err },
			"Chats":           func() error { _, err := a.Chats(ctx, ref, messaging.ChatFilter{}); return err },
			"Chat":            func() error { _, err := a.Chat(ctx, ref, "111"); return err },
			"UpdateChat":      func() error { _, err := a.UpdateChat(ctx, ref, "111", messaging.ChatChange{}); return err },
			"Messages":        func() error { _, err := a.Messages(ctx, ref, "111", messaging.History{}); return err },
			"Screen":          func() error { _, err := a.Screen().List(ctx, ref, "", messaging.List{}); return err },
			"Send":            func() error { _, err := a.Send(ctx, send); return err },
			"Check":           func() error { _, err := a.Check(ctx, send); return err },
			"MarkRead":        func() error { _, err := a.MarkRead(ctx, ref, "111", ""); return err },
			"Follow":          func() error { _, err := a.Changes(ctx, ref, ""); return err },
			"SendTx":          within(func(tx *sqlx.Tx) error { _, err := a.SendTx(ctx, tx, send); return err }),
			"ChatTx":          within(func(tx *sqlx.Tx) error { _, err := a.ChatTx(ctx, tx, ref, "111"); return err }),
			"UpdateChatTx": within(func(tx *sqlx.Tx) error {
				_, err := a.UpdateChatTx(ctx, tx, ref, "111", messaging.ChatChange{})
				return err
			}),
		} {
			require.ErrorIs(t, call(), messaging.ErrNotFound, name)
		}
		require.Equal(t, "Shop", func() string { r, _ := f.acc.References().Get(ctx, ref); return r.Name }())
	})
}

func TestDeleteLeavesNothing(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref, other := f.reference(t, testKind), f.reference(t, testKind)
		for _, r := range []provider.ReferenceID{ref, other} {
			f.receive(t, r, text("m1", "111", "hello"), status("unknown", provider.StatusRead), text("", "111", "bad"),
				&provider.Raw{ID: "r", Kind: "image"})
			f.send(t, messaging.SendRequest{Reference: r, ChatID: "111", Wait: timeout, IdempotencyKey: fmt.Sprint("k", r)})
		}
		f.net.fail(&provider.Temporary{After: time.Hour})
		f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		tables := []string{
			"messaging_reference", "messaging_chat", "messaging_alias", "messaging_message", "messaging_outbound", "messaging_early_status",
			"messaging_raw", "messaging_dead_letter", "messaging_change", "messaging_idempotency",
		}
		rows := func(table string) int { return count(t, db, `SELECT count(*) FROM `+table) }
		require.NoError(t, f.acc.References().Delete(t.Context(), ref))
		for _, table := range tables {
			require.Positive(t, rows(table), "%s of the other reference", table)
		}
		require.NoError(t, f.acc.References().Delete(t.Context(), other))
		for _, table := range tables {
			require.Zero(t, rows(table), table)
		}
		require.Zero(t, rows("queue_job")+rows("queue_partition")+rows("queue_review"))
		require.ErrorIs(t, f.acc.References().Delete(t.Context(), ref), messaging.ErrNotFound)
		require.ErrorIs(t, f.svc.Receive(t.Context(), ref, []provider.Event{text("m2", "111", "late")}), messaging.ErrNotFound)
	})
}

// TestDeleteWhileReceiving lets messages arrive while their reference is deleted.
func TestDeleteWhileReceiving(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		for round := range 4 {
			ref := f.reference(t, testKind)
			first, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for i := range 200 {
					err := f.svc.Receive(t.Context(), ref, []provider.Event{text(fmt.Sprint("m", i), fmt.Sprint(100+i%7), "x")})
					if i == 0 {
						close(first)
					}
					if err != nil {
						return
					}
				}
			}()
			<-first
			require.NoError(t, f.acc.References().Delete(t.Context(), ref))
			<-done
			require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_message`), "round %d", round)
			require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_chat`), "round %d", round)
		}
	})
}
