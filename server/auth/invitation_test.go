package auth_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

// invite makes an invitation with a role, and returns its token.
func invite(t *testing.T, f fixture, by auth.Caller, email string, role auth.Role) string {
	t.Helper()
	_, token, err := f.Invitations().Create(t.Context(), by, auth.NewInvitation{Email: email, Role: role})
	require.NoError(t, err)
	require.NotEmpty(t, token)
	return token
}

func accept(t *testing.T, f fixture, token string) (auth.Session, error) {
	t.Helper()
	return f.Invitations().Accept(t.Context(), token, auth.NewUser{Name: "Cleo", Password: "battery staple", Address: home})
}

// refusedToken requires that a link is refused as one that never was.
func refusedToken(t *testing.T, err error, why string) {
	t.Helper()
	var bad *auth.Invalid
	require.ErrorAs(t, err, &bad, why)
	require.Equal(t, auth.Invalid{Field: "token", Message: "is not valid, or no longer valid: ask for a new invitation"}, *bad, why)
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	eachWith(t, auth.Options{Closed: true}, func(t *testing.T, f fixture) {
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		inv, token, err := f.Invitations().Create(t.Context(), ana, auth.NewInvitation{Email: " Cleo@example.org", Role: auth.RoleAgent})
		require.NoError(t, err)
		require.Equal(t, "cleo@example.org", inv.Email)
		require.Equal(t, auth.RoleAgent, inv.Role)
		listed, err := f.Invitations().List(t.Context(), ana.Account, auth.List{})
		require.NoError(t, err)
		require.Equal(t, []auth.Invitation{inv}, listed.Items)
		var stored []string
		require.NoError(t, f.db.Select(&stored, `SELECT hash FROM auth_invitation`))
		require.NotContains(t, stored, token)

		var bad *auth.Invalid
		_, err = f.Invitations().Accept(t.Context(), token, auth.NewUser{Name: "Cleo", Password: "short"})
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "password", bad.Field)
		_, err = f.Invitations().Accept(t.Context(), token, auth.NewUser{Password: "battery staple"})
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "name", bad.Field)
		_, err = accept(t, f, token+"x")
		refusedToken(t, err, "a link that never was")
		s, err := accept(t, f, token)
		require.NoError(t, err, "what was refused did not use it up")
		require.Equal(t, ana.Account, s.User.AccountID)
		require.Equal(t, auth.RoleAgent, s.User.Role)
		require.Equal(t, s.User.ID, caller(t, f, s.Token).User)
		_, err = accept(t, f, token)
		refusedToken(t, err, "it works once")
		_, err = login(t, f, "cleo@example.org", "battery staple", home)
		require.NoError(t, err)

		_, _, err = f.Invitations().Create(t.Context(), ana, auth.NewInvitation{Email: "cleo@example.org", Role: auth.RoleViewer})
		require.ErrorIs(t, err, auth.ErrEmailTaken)
		token = invite(t, f, ana, "dan@example.org", auth.RoleViewer)
		f.clock.move(auth.InvitationTTL)
		_, err = accept(t, f, token)
		refusedToken(t, err, "7 days are over")
	})
}

// TestInvitationIsVoid has inviters lose what their invitations give.
func TestInvitationIsVoid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		yes := true
		change := func(ch auth.UserChange) func(id string) {
			return func(id string) {
				_, err := f.Users().Update(t.Context(), ana, id, ch)
				require.NoError(t, err)
			}
		}
		methods := map[string]func(id string){
			"demoted":  change(auth.UserChange{Permissions: []auth.Permission{auth.UsersManage}}),
			"stripped": change(auth.UserChange{Role: auth.RoleAgent}),
			"disabled": change(auth.UserChange{Disabled: &yes}),
			"deleted":  func(id string) { require.NoError(t, f.Users().Delete(t.Context(), ana, id)) },
		}
		for name, lose := range methods {
			u, by := member(t, f, ana, name+"@example.org", auth.AllPermissions()...)
			token := invite(t, f, by, "friend-of-"+name+"@example.org", auth.RoleViewer)
			lose(u.ID)
			_, err := accept(t, f, token)
			refusedToken(t, err, name)
		}
		_, admin := member(t, f, ana, "admin@example.org", auth.AllPermissions()...)
		id := admin.User
		change(auth.UserChange{Role: auth.RoleOwner})(id)
		s, err := login(t, f, "admin@example.org", password, home)
		require.NoError(t, err)
		token := invite(t, f, caller(t, f, s.Token), "owner@example.org", auth.RoleOwner)
		change(auth.UserChange{Role: auth.RoleAdmin})(id)
		_, err = accept(t, f, token)
		refusedToken(t, err, "the inviter is no owner any more")
		change(auth.UserChange{Role: auth.RoleOwner})(id)
		_, err = accept(t, f, token)
		refusedToken(t, err, "it does not come back")

		token = invite(t, f, ana, "taken@example.org", auth.RoleViewer)
		signUp(t, f, "taken@example.org")
		_, err = accept(t, f, token)
		refusedToken(t, err, "nothing is said about other accounts")
		token = invite(t, f, ana, "late@example.org", auth.RoleViewer)
		require.NoError(t, f.Accounts().Close(t.Context(), ana.Account, nil))
		_, err = accept(t, f, token)
		refusedToken(t, err, "the account is closed")
	})
}

func TestInvitationRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		_, manager := member(t, f, ana, "manager@example.org", auth.UsersManage, auth.ChatsRead)
		_, reader := member(t, f, ana, "reader@example.org", auth.ChatsRead)
		other := caller(t, f, signUp(t, f, "other@example.org").Token)
		try := func(by auth.Caller, n auth.NewInvitation) error {
			n.Email = "new@example.org"
			_, _, err := f.Invitations().Create(t.Context(), by, n)
			return err
		}
		require.ErrorIs(t, try(reader, auth.NewInvitation{Permissions: []auth.Permission{auth.ChatsRead}}), auth.ErrForbidden)
		require.ErrorIs(t, try(manager, auth.NewInvitation{Role: auth.RoleAgent}), auth.ErrGrant)
		require.ErrorIs(t, try(manager, auth.NewInvitation{Role: auth.RoleOwner}), auth.ErrOwner)
		require.ErrorAs(t, try(ana, auth.NewInvitation{Role: "king"}), new(*auth.Invalid))

		inv, _, err := f.Invitations().Create(t.Context(), ana, auth.NewInvitation{Email: "new@example.org", Role: auth.RoleAgent})
		require.NoError(t, err)
		require.ErrorIs(t, f.Invitations().Revoke(t.Context(), reader, inv.ID), auth.ErrForbidden)
		require.ErrorIs(t, f.Invitations().Revoke(t.Context(), manager, inv.ID), auth.ErrGrant)
		require.ErrorIs(t, f.Invitations().Revoke(t.Context(), other, inv.ID), auth.ErrNotFound)
		require.NoError(t, f.Invitations().Revoke(t.Context(), ana, inv.ID))
		require.ErrorIs(t, f.Invitations().Revoke(t.Context(), ana, inv.ID), auth.ErrNotFound)

		var limited *auth.RateLimited
		for range 2 {
			require.NoError(t, try(ana, auth.NewInvitation{Role: auth.RoleAgent}))
		}
		require.ErrorAs(t, try(ana, auth.NewInvitation{Role: auth.RoleAgent}), &limited, "three an hour and e-mail")
	})
}

// TestInvitationTogether accepts one link at once, on two nodes.
func TestInvitationTogether(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		nodes := []fixture{f, setup(t, f.db, auth.Options{}, secret)}
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		token := invite(t, f, ana, "cleo@example.org", auth.RoleAgent)
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = accept(t, nodes[i%2], token) })
		}
		wg.Wait()
		used := 0
		for _, err := range errs {
			if err == nil {
				used++
				continue
			}
			refusedToken(t, err, "another was faster")
		}
		require.Equal(t, 1, used)
	})
}

// TestInvitationIsMailed brings the link by a mail, and shows it to nobody else.
func TestInvitationIsMailed(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, auth.Migrate(t.Context(), db))
		sent := make(chan string, 10)
		f := setup(t, db, auth.Options{SendInvitation: func(_ context.Context, to auth.Invitation, token string) error {
			sent <- to.Email + " " + token
			return nil
		}}, secret)
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error, 1)
		go func() { done <- f.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			require.NoError(t, <-done)
		})
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		require.NoError(t, f.RequestReset(t.Context(), "ana@example.org"), "no mails of that kind are sent")
		_, token, err := f.Invitations().Create(t.Context(), ana, auth.NewInvitation{Email: "cleo@example.org", Role: auth.RoleAgent})
		require.NoError(t, err)
		require.Empty(t, token)
		mail := <-sent
		require.Contains(t, mail, "cleo@example.org ")
		_, err = accept(t, f, mail[len("cleo@example.org "):])
		require.NoError(t, err)
		_, token, err = f.Invitations().Create(t.Context(), ana, auth.NewInvitation{Email: "dan@example.org", Role: auth.RoleAgent, NoMail: true})
		require.NoError(t, err)
		require.NotEmpty(t, token)
		require.Empty(t, sent)
	})
}
