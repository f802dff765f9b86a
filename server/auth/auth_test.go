package auth_test

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

const (
	secret   = "a secret for tests of 32 bytes and more"
	password = "correct horse"
)

var home = netip.MustParseAddr("192.0.2.1")

// clock is a time that the test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// fixture is a service over an empty database.
type fixture struct {
	*auth.Service
	db    *sqlx.DB
	clock *clock
}

func each(t *testing.T, fn func(t *testing.T, f fixture)) {
	t.Helper()
	eachWith(t, auth.Options{}, fn)
}

func eachWith(t *testing.T, o auth.Options, fn func(t *testing.T, f fixture)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, auth.Migrate(t.Context(), db))
		fn(t, setup(t, db, o, secret))
	})
}

// setup is another node on the same database.
func setup(t *testing.T, db *sqlx.DB, o auth.Options, secrets ...string) fixture {
	t.Helper()
	c := &clock{t: time.Unix(1_900_000_000, 0)}
	if o.Cost == (auth.Cost{}) {
		o.Cost = auth.Cost{Passes: 1, Memory: 64}
	}
	o.Secrets, o.Now, o.Logger = secrets, c.now, slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := auth.New(t.Context(), db, &o)
	require.NoError(t, err)
	return fixture{s, db, c}
}

func signUp(t *testing.T, f fixture, email string) auth.Session {
	t.Helper()
	s, err := f.SignUp(t.Context(), auth.NewUser{Email: email, Name: "Ana", Password: password})
	require.NoError(t, err)
	return s
}

func login(t *testing.T, f fixture, email, pass string, from netip.Addr) (auth.Session, error) {
	t.Helper()
	return f.Login(t.Context(), auth.Credentials{Email: email, Password: pass, Address: from})
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		s := signUp(t, f, "  Ana@Example.org ")
		require.Equal(t, "ana@example.org", s.User.Email)
		require.Equal(t, auth.AllPermissions(), s.User.Permissions)
		require.Equal(t, f.clock.now().Add(12*time.Hour).Unix(), s.ExpiresAt.Unix())

		c, err := f.Authenticate(t.Context(), s.Token)
		require.NoError(t, err)
		require.Equal(t, s.User.ID, c.User)
		require.Equal(t, s.User.AccountID, c.Account)
		require.True(t, c.Can(auth.ChatsSend))

		u, err := f.Users().Get(t.Context(), c.Account, c.User)
		require.NoError(t, err)
		require.Equal(t, s.User, u)

		_, err = f.SignUp(t.Context(), auth.NewUser{Email: "ANA@example.org", Name: "B", Password: password})
		require.ErrorIs(t, err, auth.ErrEmailTaken)
		var accounts int
		require.NoError(t, f.db.Get(&accounts, `SELECT count(*) FROM auth_account`))
		require.Equal(t, 1, accounts, "a refused sign-up leaves nothing")

		other := signUp(t, f, "ben@example.org")
		require.NotEqual(t, s.User.AccountID, other.User.AccountID)
		_, err = f.Users().Get(t.Context(), other.User.AccountID, s.User.ID)
		require.ErrorIs(t, err, auth.ErrNotFound, "another account's user")
	})
}

func TestSignUpRefuses(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	ok := auth.NewUser{Email: "a@example.org", Name: "A", Password: password}
	for name, c := range map[string]struct {
		change func(*auth.NewUser)
		field  string
	}{
		"no e-mail":       {func(n *auth.NewUser) { n.Email = "" }, "email"},
		"no address":      {func(n *auth.NewUser) { n.Email = "a.example.org" }, "email"},
		"with a name":     {func(n *auth.NewUser) { n.Email = "A <a@example.org>" }, "email"},
		"two addresses":   {func(n *auth.NewUser) { n.Email = "a@example.org, b@example.org" }, "email"},
		"endless e-mail":  {func(n *auth.NewUser) { n.Email = strings.Repeat("a", 250) + "@example.org" }, "email"},
		"blank name":      {func(n *auth.NewUser) { n.Name = " " }, "name"},
		"endless name":    {func(n *auth.NewUser) { n.Name = strings.Repeat("a", 201) }, "name"},
		"short password":  {func(n *auth.NewUser) { n.Password = "ninechars" }, "password"},
		"nine characters": {func(n *auth.NewUser) { n.Password = "äöüäöüäöü" }, "password"},
		"endless one":     {func(n *auth.NewUser) { n.Password = strings.Repeat("a", 1001) }, "password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := ok
			c.change(&n)
			_, err := f.SignUp(t.Context(), n)
			var bad *auth.Invalid
			require.ErrorAs(t, err, &bad)
			require.Equal(t, c.field, bad.Field)
		})
	}
}

func migrated(t testing.TB) *sqlx.DB {
	t.Helper()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, auth.Migrate(t.Context(), db))
	return db
}

func TestClosed(t *testing.T) {
	t.Parallel()
	eachWith(t, auth.Options{Closed: true}, func(t *testing.T, f fixture) {
		const n = 4
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				_, errs[i] = f.SignUp(t.Context(), auth.NewUser{Email: fmt.Sprintf("u%d@example.org", i), Name: "U", Password: password})
			})
		}
		wg.Wait()
		let := 0
		for _, err := range errs {
			if err == nil {
				let++
				continue
			}
			require.ErrorIs(t, err, auth.ErrClosed)
		}
		require.Equal(t, 1, let)
	})
}

func TestLogin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		want := signUp(t, f, "ana@example.org")
		s, err := login(t, f, "ANA@example.org", password, home)
		require.NoError(t, err)
		require.Equal(t, want.User, s.User)
		_, err = f.Authenticate(t.Context(), s.Token)
		require.NoError(t, err)

		_, wrong := login(t, f, "ana@example.org", password+"!", home)
		_, unknown := login(t, f, "nobody@example.org", password, home)
		require.ErrorIs(t, wrong, auth.ErrCredentials)
		require.Equal(t, wrong, unknown, "which half was wrong is not said")
		_, err = login(t, f, "nobody@example.org", strings.Repeat("a", 5000), home)
		require.ErrorIs(t, err, auth.ErrCredentials)
	})
}

func TestPasswordIsHashed(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	s, err := auth.New(t.Context(), db, &auth.Options{Secrets: []string{secret}})
	require.NoError(t, err)
	f := fixture{s, db, nil}
	signUp(t, f, "ana@example.org")
	signUp(t, f, "ben@example.org")
	var stored []string
	require.NoError(t, f.db.Select(&stored, `SELECT password FROM auth_user`))
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, stored[0])
	require.NotEqual(t, stored[0], stored[1], "each has its own salt")

	f.db.MustExec(`UPDATE auth_user SET password = 'x'`)
	_, err = login(t, f, "ana@example.org", password, home)
	require.ErrorContains(t, err, "malformed")
}

// TestRehash logs in under another cost: a hash is made again when it was
// cheaper, and never when it was dearer.
func TestRehash(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		s := signUp(t, f, "ana@example.org")
		stored := func() string {
			var out string
			require.NoError(t, f.db.Get(&out, `SELECT password FROM auth_user`))
			return out
		}
		for _, step := range []struct {
			cost auth.Cost
			want string
		}{
			{auth.Cost{Passes: 1, Memory: 64}, `m=64,t=1,`},
			{auth.Cost{Passes: 1, Memory: 128}, `m=128,t=1,`},
			{auth.Cost{Passes: 2, Memory: 128}, `m=128,t=2,`},
			{auth.Cost{Passes: 1, Memory: 64}, `m=128,t=2,`},
		} {
			node := setup(t, f.db, auth.Options{Cost: step.cost}, secret)
			for range 2 {
				_, err := login(t, node, "ana@example.org", password, home)
				require.NoError(t, err)
				require.Contains(t, stored(), step.want)
			}
			_, err := login(t, node, "ana@example.org", "wrong password", home)
			require.ErrorIs(t, err, auth.ErrCredentials)
		}
		_, err := f.Authenticate(t.Context(), s.Token)
		require.NoError(t, err, "it is the same password: older tokens stay valid")
	})
}

func TestSecretsAreRequired(t *testing.T) {
	t.Parallel()
	_, err := auth.New(t.Context(), migrated(t), nil)
	require.ErrorContains(t, err, "auth: Options.Secrets: no secret is given")
}

// TestPasswordsAreTakenAsTheyAre logs in with exactly what was set, however long
// and of whatever characters, and with nothing near to it.
func TestPasswordsAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		s, old := signUp(t, f, "ana@example.org"), password
		for _, set := range []string{" Leading, trailing ", "Größe 猫 \U0001F40E\x01x", strings.Repeat("Long words ", 90)} {
			by := caller(t, f, s.Token)
			_, err := f.Users().Update(t.Context(), by, by.User, auth.UserChange{Password: &set, CurrentPassword: old, Address: home})
			require.NoError(t, err)
			for _, near := range []string{strings.TrimSpace(set) + "\n", strings.ToLower(set), strings.ToUpper(set), set[:len(set)-1], set + " "} {
				_, err = login(t, f, "ana@example.org", near, home)
				require.ErrorIs(t, err, auth.ErrCredentials, near)
			}
			s, err = login(t, f, "ana@example.org", set, home)
			require.NoError(t, err)
			old = set
			f.clock.move(time.Hour) // the wrong ones are counted
		}
	})
}
