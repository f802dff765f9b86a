package auth_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

// open counts what lets a user in, by its kind.
func open(t *testing.T, f fixture, by auth.Caller) map[auth.Kind]int {
	t.Helper()
	n := map[auth.Kind]int{}
	for list := (auth.List{Limit: 200}); ; {
		p, err := f.Sessions().List(t.Context(), by, by.User, list)
		require.NoError(t, err)
		for _, s := range p.Items {
			n[s.Kind]++
		}
		if list.Cursor = p.Next; p.Next == "" {
			return n
		}
	}
}

// TestLoginsAreBounded logs in more often than a user may be logged in: the log-in
// that was not used for the longest time ends, those of the other kind do not.
func TestLoginsAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		first := browse(t, f, "ana@example.org")
		log := func() string {
			f.clock.move(time.Second)
			s, err := login(t, f, "ana@example.org", password, home)
			require.NoError(t, err)
			return s.Token
		}
		oldest, second := log(), log()
		for range auth.MaxLogins - 3 { // the sign-up was one
			log()
		}
		f.clock.move(2 * time.Minute)
		used := caller(t, f, oldest)
		f.Sessions().Seen(t.Context(), used, auth.Client{Address: home})
		log()
		log()
		caller(t, f, oldest)
		_, err := f.Authenticate(t.Context(), second)
		require.ErrorIs(t, err, auth.ErrToken, "it was not used for the longest time")
		_, err = f.AuthenticateCookie(t.Context(), first)
		require.NoError(t, err, "programs end no browser's log-in")
		require.Equal(t, map[auth.Kind]int{auth.KindToken: auth.MaxLogins, auth.KindCookie: 1}, open(t, f, used))
	})
}

// TestTokensAreBounded makes more tokens than a user may have, many at once.
func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		other := setup(t, f.db, auth.Options{}, secret)
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		_, ben := member(t, f, ana, "ben@example.org", auth.ChatsRead)
		id, _, err := f.Tokens().Create(t.Context(), ana, newToken(f, auth.ChatsRead))
		require.NoError(t, err)
		for range auth.MaxTokens - 3 {
			_, _, err := f.Tokens().Create(t.Context(), ana, newToken(f, auth.ChatsRead))
			require.NoError(t, err)
		}
		results := make(chan error)
		for i := range 6 {
			node := []fixture{f, other}[i%2]
			go func() {
				_, _, err := node.Tokens().Create(t.Context(), ana, newToken(f, auth.ChatsRead))
				results <- err
			}()
		}
		refused := 0
		for range 6 {
			if err := <-results; errors.Is(err, auth.ErrTokens) {
				refused++
			} else {
				require.NoError(t, err)
			}
		}
		require.Equal(t, 4, refused)
		require.Equal(t, auth.MaxTokens, open(t, f, ana)[auth.KindScoped])
		_, _, err = f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsRead))
		require.NoError(t, err, "of another user")

		require.NoError(t, f.Tokens().Revoke(t.Context(), ana, id))
		_, _, err = f.Tokens().Create(t.Context(), ana, newToken(f, auth.ChatsRead))
		require.NoError(t, err)
		f.clock.move(25 * time.Hour)
		_, _, err = f.Tokens().Create(t.Context(), ana, newToken(f, auth.ChatsRead))
		require.NoError(t, err, "those that have ended do not count")
	})
}

// TestEndingAccessIsBounded gives a new password to a user who has logged in any
// number of times, from any number of addresses.
func TestEndingAccessIsBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		benUser, ben := member(t, f, ana, "ben@example.org", auth.ChatsRead)
		for i := range 3 * auth.MaxLogins {
			from := netip.MustParseAddr(fmt.Sprintf("198.51.%d.%d", i/200, i%200+1))
			_, err := f.Login(t.Context(), auth.Credentials{Email: "ben@example.org", Password: password, Address: from, Cookie: i%2 == 0})
			require.NoError(t, err)
		}
		require.Equal(t, map[auth.Kind]int{auth.KindToken: auth.MaxLogins, auth.KindCookie: auth.MaxLogins}, open(t, f, ben))
		var addresses int
		require.NoError(t, f.db.Get(&addresses, `SELECT count(*) FROM auth_origin WHERE user_id = '`+benUser.ID+`'`))
		require.Equal(t, 100, addresses)
		commits := testkit.ObserveCommits(t, f.db)
		fresh := "another horse"
		_, err := f.Users().Update(t.Context(), ana, benUser.ID, auth.UserChange{Password: &fresh})
		require.NoError(t, err)
		commits.RequireBounded(t, 2*auth.MaxLogins, 2*auth.MaxLogins+auth.MaxTokens)
	})
}
