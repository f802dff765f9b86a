package auth_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

const eventually = time.Minute

// post takes the links that are sent.
type post struct {
	links chan string
	mu    sync.Mutex
	fail  []error // what the next sends return
	to    []string
}

func (p *post) send(_ context.Context, to auth.User, token string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fail) > 0 {
		err := p.fail[0]
		p.fail = p.fail[1:]
		return err
	}
	p.to = append(p.to, to.Email)
	p.links <- token
	return nil
}

func (p *post) next(t *testing.T) string {
	t.Helper()
	select {
	case token := <-p.links:
		return token
	case <-time.After(eventually):
		require.Fail(t, "no link was sent")
		return ""
	}
}

// eachMailing runs fn with a service that sends links.
func eachMailing(t *testing.T, fn func(t *testing.T, f fixture, p *post)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, auth.Migrate(t.Context(), db))
		p := &post{links: make(chan string, 10)}
		f := setup(t, db, auth.Options{SendReset: p.send}, secret)
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error, 1)
		go func() { done <- f.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			require.NoError(t, <-done)
		})
		fn(t, f, p)
	})
}

func TestReset(t *testing.T) {
	t.Parallel()
	eachMailing(t, func(t *testing.T, f fixture, p *post) {
		s := signUp(t, f, "ana@example.org")
		cookie := browse(t, f, "ana@example.org")
		require.NoError(t, f.RequestReset(t.Context(), "nobody@example.org"), "whether there is such a user is not said")
		require.NoError(t, f.RequestReset(t.Context(), " Ana@Example.org"))
		token := p.next(t)
		var stored []string
		require.NoError(t, f.db.Select(&stored, `SELECT hash FROM auth_reset`))
		require.NotContains(t, stored, token)

		var bad *auth.Invalid
		require.ErrorAs(t, f.Reset(t.Context(), token, "short"), &bad)
		require.Equal(t, "password", bad.Field)
		require.ErrorAs(t, f.Reset(t.Context(), token+"x", "a new password"), &bad)
		require.Equal(t, "token", bad.Field)
		require.NoError(t, f.Reset(t.Context(), token, "a new password"), "what was refused did not use it up")

		_, err := f.Authenticate(t.Context(), s.Token)
		require.ErrorIs(t, err, auth.ErrToken)
		_, err = f.AuthenticateCookie(t.Context(), cookie)
		require.ErrorIs(t, err, auth.ErrToken)
		_, err = login(t, f, "ana@example.org", password, home)
		require.ErrorIs(t, err, auth.ErrCredentials)
		_, err = login(t, f, "ana@example.org", "a new password", home)
		require.NoError(t, err)
		require.ErrorAs(t, f.Reset(t.Context(), token, "yet another password"), &bad, "it works once")
		require.Equal(t, []string{"ana@example.org"}, p.to)
	})
}

// TestResetTogether uses one link at once.
func TestResetTogether(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		f.clock.move(time.Since(f.clock.now())) // links of an operator are made by the machine's clock
		token, err := auth.IssueReset(t.Context(), f.db, "ana@example.org")
		require.NoError(t, err)
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = f.Reset(t.Context(), token, fmt.Sprintf("new password %d", i)) })
		}
		wg.Wait()
		used := 0
		for i, err := range errs {
			if err == nil {
				used++
				_, err := login(t, f, "ana@example.org", fmt.Sprintf("new password %d", i), home)
				require.NoError(t, err)
				continue
			}
			require.ErrorAs(t, err, new(*auth.Invalid))
		}
		require.Equal(t, 1, used)
	})
}

func TestResetEnds(t *testing.T) {
	t.Parallel()
	eachMailing(t, func(t *testing.T, f fixture, p *post) {
		by := caller(t, f, signUp(t, f, "ana@example.org").Token)
		link := func() string {
			require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"))
			return p.next(t)
		}
		old := link()
		f.clock.move(auth.ResetTTL)
		require.ErrorAs(t, f.Reset(t.Context(), old, "a new password"), new(*auth.Invalid), "30 minutes are over")

		old = link()
		email := "ana@example.com"
		_, err := f.Users().Update(t.Context(), by, by.User, auth.UserChange{Email: &email, CurrentPassword: password, Address: home})
		require.NoError(t, err)
		require.ErrorAs(t, f.Reset(t.Context(), old, "a new password"), new(*auth.Invalid), "it went to an e-mail that is not hers any more")

		require.NoError(t, f.RequestReset(t.Context(), email))
		one := p.next(t)
		require.NoError(t, f.RequestReset(t.Context(), email))
		two := p.next(t)
		require.NoError(t, f.Reset(t.Context(), one, "a new password"))
		require.ErrorAs(t, f.Reset(t.Context(), two, "a new password"), new(*auth.Invalid), "a new password ends the other links")
	})
}

// TestResetLimit asks for more links than an e-mail gets.
func TestResetLimit(t *testing.T) {
	t.Parallel()
	eachMailing(t, func(t *testing.T, f fixture, p *post) {
		signUp(t, f, "ana@example.org")
		signUp(t, f, "ben@example.org")
		for range 5 {
			require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"))
		}
		require.NoError(t, f.RequestReset(t.Context(), "ben@example.org"))
		for range 4 {
			p.next(t)
		}
		f.clock.move(time.Hour)
		require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"))
		p.next(t)
		require.ElementsMatch(t, []string{"ana@example.org", "ana@example.org", "ana@example.org", "ben@example.org", "ana@example.org"}, p.to)
	})
}

// TestResetIsSentAgain has a mail server that is away, and one that refuses.
func TestResetIsSentAgain(t *testing.T) {
	t.Parallel()
	eachMailing(t, func(t *testing.T, f fixture, p *post) {
		signUp(t, f, "ana@example.org")
		p.mu.Lock()
		p.fail = []error{errors.New("connection refused")}
		p.mu.Unlock()
		require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"))
		require.NoError(t, f.Reset(t.Context(), p.next(t), "a new password"))

		p.mu.Lock()
		p.fail = []error{fmt.Errorf("%w: no such mailbox", auth.ErrUndeliverable)}
		p.mu.Unlock()
		require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"))
		require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"))
		p.next(t)
		require.Len(t, p.to, 2, "what was refused for good is not tried again")
	})
}

func TestIssueReset(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"), "nothing is sent without a mail server")
		_, err := auth.IssueReset(t.Context(), f.db, "nobody@example.org")
		require.ErrorIs(t, err, auth.ErrNotFound)
		_, err = auth.IssueReset(t.Context(), f.db, "nobody")
		require.ErrorAs(t, err, new(*auth.Invalid))
		var waiting int
		require.NoError(t, f.db.Get(&waiting, `SELECT count(*) FROM queue_job`))
		require.Zero(t, waiting)
	})
}

// TestSecondFactor_OutlivesReset sets a new password by mail: the code is asked
// for as before.
func TestSecondFactor_OutlivesReset(t *testing.T) {
	t.Parallel()
	eachMailing(t, func(t *testing.T, f fixture, p *post) {
		_, _, codes := enrolled(t, f, "ben@example.org")
		require.NoError(t, f.RequestReset(t.Context(), "ben@example.org"))
		require.NoError(t, f.Reset(t.Context(), p.next(t), "a new password"))
		in := auth.Credentials{Email: "ben@example.org", Password: "a new password", Address: home}
		_, err := f.Login(t.Context(), in)
		requiresFactor(t, err, false)
		in.Code = codes[0]
		_, err = f.Login(t.Context(), in)
		require.NoError(t, err)
	})
}
