package auth_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

// letter is a mail of a sign-up.
type letter struct{ email, token string }

// eachConfirming runs fn with a service on which Ana has signed up, and which
// confirms further sign-ups by mail.
func eachConfirming(t *testing.T, fn func(t *testing.T, f fixture, n *testkit.Asked, letters <-chan letter)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, auth.Migrate(t.Context(), db))
		seen, n := testkit.Counting(t, db)
		letters := make(chan letter, 10)
		f := setup(t, seen, auth.Options{SendSignUp: func(_ context.Context, email, token string) error {
			letters <- letter{email, token}
			return nil
		}}, secret)
		require.NotEmpty(t, signUp(t, f, "ana@example.org").Token, "the first account needs no mail")
		fn(t, f, n, letters)
	})
}

// sending runs a service until the test ends.
func sending(t *testing.T, f fixture) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
}

func receive(t *testing.T, letters <-chan letter) letter {
	t.Helper()
	select {
	case l := <-letters:
		return l
	case <-time.After(eventually):
		require.Fail(t, "no mail was sent")
		return letter{}
	}
}

func TestConfirmSignUp(t *testing.T) {
	t.Parallel()
	eachConfirming(t, func(t *testing.T, f fixture, _ *testkit.Asked, letters <-chan letter) {
		sending(t, f)
		require.Zero(t, signUp(t, f, "Ben@Example.org"))
		got := receive(t, letters)
		require.Equal(t, "ben@example.org", got.email)
		var stored []string
		require.NoError(t, f.db.Select(&stored, `SELECT hash FROM auth_signup`))
		require.NotContains(t, stored, got.token)
		_, err := login(t, f, "ben@example.org", password, home)
		require.ErrorIs(t, err, auth.ErrCredentials, "the mailbox may be another's")

		confirm := func(token, pass string) (auth.Session, error) {
			return f.ConfirmSignUp(t.Context(), token, auth.NewUser{Password: pass, Address: home})
		}
		var bad *auth.Invalid
		_, err = confirm(got.token, "what else it may be")
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "password", bad.Field, "the reader of the mail has not signed up")
		_, err = confirm(got.token+"x", password)
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "token", bad.Field)
		in, err := confirm(got.token, password)
		require.NoError(t, err)
		caller, err := f.Authenticate(t.Context(), in.Token)
		require.NoError(t, err)
		require.True(t, caller.Owner)
		_, err = confirm(got.token, password)
		require.ErrorAs(t, err, &bad, "it works once")
		require.Equal(t, "token", bad.Field)
		_, err = login(t, f, "ben@example.org", password, home)
		require.NoError(t, err)
	})
}

// TestConfirmSignUp_Together uses two links of one e-mail at once: one makes the
// account.
func TestConfirmSignUp_Together(t *testing.T) {
	t.Parallel()
	eachConfirming(t, func(t *testing.T, f fixture, _ *testkit.Asked, letters <-chan letter) {
		sending(t, f)
		signUp(t, f, "ben@example.org")
		first := receive(t, letters)
		signUp(t, f, "ben@example.org")
		tokens := []string{first.token, receive(t, letters).token}
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = f.ConfirmSignUp(t.Context(), tokens[i%2], auth.NewUser{Password: password, Address: home})
			})
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			var bad *auth.Invalid
			if err == nil {
				made++
				continue
			}
			require.ErrorAs(t, err, &bad)
			require.Equal(t, "token", bad.Field)
		}
		require.Equal(t, 1, made)
	})
}

// TestConfirmSignUp_Expires uses a link too late.
func TestConfirmSignUp_Expires(t *testing.T) {
	t.Parallel()
	eachConfirming(t, func(t *testing.T, f fixture, _ *testkit.Asked, letters <-chan letter) {
		sending(t, f)
		signUp(t, f, "ben@example.org")
		got := receive(t, letters)
		f.clock.move(auth.SignUpTTL)
		var bad *auth.Invalid
		_, err := f.ConfirmSignUp(t.Context(), got.token, auth.NewUser{Password: password, Address: home})
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "token", bad.Field)
	})
}

// TestSignUpTellsNothing signs up with e-mails that have an account and that
// have none: answers, errors and statements are the same, mails differ. An
// e-mail gets three of them an hour.
func TestSignUpTellsNothing(t *testing.T) {
	t.Parallel()
	eachConfirming(t, func(t *testing.T, f fixture, n *testkit.Asked, letters <-chan letter) {
		cost := func(email string) [3]int { // what wakes the workers is told apart, and together
			before := [3]int{n.Of("auth_"), n.Of("queue_"), int(n.Transactions.Load())}
			require.Zero(t, signUp(t, f, email))
			return [3]int{n.Of("auth_") - before[0], n.Of("queue_") - before[1], int(n.Transactions.Load()) - before[2]}
		}
		require.NotContains(t, cost("warm@example.org"), 0)
		require.Equal(t, cost("ben@example.org"), cost("ana@example.org"))
		for range 3 {
			signUp(t, f, "ana@example.org")
		}
		sending(t, f)
		sent := map[string]int{}
		for range 5 { // one to the first, one to Ben, and three to Ana
			l := receive(t, letters)
			require.Equal(t, l.email == "ana@example.org", l.token == "", "whose the e-mail is gets no link")
			sent[l.email]++
		}
		require.Equal(t, map[string]int{"warm@example.org": 1, "ben@example.org": 1, "ana@example.org": 3}, sent)
		require.Empty(t, letters)
	})
}

// TestSignUpTellsNothing_Closed signs up where only the first account may.
func TestSignUpTellsNothing_Closed(t *testing.T) {
	t.Parallel()
	eachWith(t, auth.Options{Closed: true, SendSignUp: func(context.Context, string, string) error { return nil }}, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		for _, email := range []string{"ana@example.org", "ben@example.org"} {
			_, err := f.SignUp(t.Context(), auth.NewUser{Email: email, Name: "Ben", Password: password})
			require.Equal(t, auth.ErrClosed, err, email)
		}
	})
}

// TestSignUpSendsFew signs up with the e-mails of many strangers from one
// address: few of them get a mail of ours, and nothing else is kept.
func TestSignUpSendsFew(t *testing.T) {
	t.Parallel()
	eachConfirming(t, func(t *testing.T, f fixture, _ *testkit.Asked, _ <-chan letter) {
		up := func(i int, from netip.Addr) error {
			_, err := f.SignUp(t.Context(), auth.NewUser{Email: fmt.Sprintf("stranger%d@example.org", i), Name: "Ben", Password: password, Address: from})
			return err
		}
		for i := range 10 {
			require.NoError(t, up(i, home))
		}
		for i := range 3 {
			var limited *auth.RateLimited
			require.ErrorAs(t, up(10+i, home), &limited)
			require.Positive(t, limited.After)
		}
		require.NoError(t, up(20, netip.MustParseAddr("198.51.100.77")), "from elsewhere")
		var stored int
		require.NoError(t, f.db.Get(&stored, `SELECT count(*) FROM auth_signup`))
		require.Equal(t, 11, stored)
		f.clock.move(time.Hour)
		require.NoError(t, up(10, home), "an hour later")
	})
}
