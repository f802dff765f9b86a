package auth_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// attempts are all ways to take something from a user, or to get hold of the
// user's log-in.
func attempts(t *testing.T, f fixture, by auth.Caller, id string) map[string]func() error {
	t.Helper()
	name, email, pass, yes := "New name", "new@example.org", "another password", true
	change := func(ch auth.UserChange) func() error {
		return func() error {
			_, err := f.Users().Update(t.Context(), by, id, ch)
			return err
		}
	}
	return map[string]func() error{
		"rename":   change(auth.UserChange{Name: &name}),
		"e-mail":   change(auth.UserChange{Email: &email}),
		"password": change(auth.UserChange{Password: &pass}),
		"strip":    change(auth.UserChange{Permissions: []auth.Permission{}}),
		"demote":   change(auth.UserChange{Role: auth.RoleViewer}),
		"disable":  change(auth.UserChange{Disabled: &yes}),
		"delete":   func() error { return f.Users().Delete(t.Context(), by, id) },
	}
}

// TestNobodyChangesUsersAbove tries what a user who manages users, but lacks
// rights, could do to users with more of them.
func TestNobodyChangesUsersAbove(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := signUp(t, f, "ana@example.org")
		owner := caller(t, f, ana.Token)
		_, manager := member(t, f, owner, "manager@example.org", auth.UsersManage, auth.ChatsRead)
		adminUser, admin := member(t, f, owner, "admin@example.org", auth.AllPermissions()...)
		reader, _ := member(t, f, owner, "reader@example.org", auth.ChatsRead)
		require.True(t, owner.Owner)
		require.False(t, admin.Owner)
		require.Equal(t, auth.RoleAdmin, adminUser.Role)

		for name, try := range attempts(t, f, manager, adminUser.ID) {
			require.ErrorIs(t, try(), auth.ErrGrant, name)
		}
		for _, by := range []auth.Caller{manager, admin} {
			for name, try := range attempts(t, f, by, owner.User) {
				require.ErrorIs(t, try(), auth.ErrOwner, name)
			}
		}
		u, err := f.Users().Get(t.Context(), owner.Account, owner.User)
		require.NoError(t, err)
		require.Equal(t, ana.User, u)
		u, err = f.Users().Get(t.Context(), owner.Account, adminUser.ID)
		require.NoError(t, err)
		require.Equal(t, adminUser, u)

		for _, name := range []string{"rename", "e-mail", "password", "disable", "strip", "demote", "delete"} {
			err := attempts(t, f, manager, reader.ID)[name]()
			if name == "demote" {
				require.ErrorIs(t, err, auth.ErrGrant, "a viewer has more than the manager")
				continue
			}
			require.NoError(t, err, name)
		}
	})
}

func TestOwners(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := signUp(t, f, "ana@example.org")
		require.Equal(t, auth.RoleOwner, ana.User.Role)
		owner := caller(t, f, ana.Token)
		benUser, ben := member(t, f, owner, "ben@example.org", auth.AllPermissions()...)
		set := func(by auth.Caller, id string, role auth.Role) error {
			_, err := f.Users().Update(t.Context(), by, id, auth.UserChange{Role: role})
			return err
		}
		n := auth.NewUser{Email: "cleo@example.org", Name: "Cleo", Password: password, Role: auth.RoleOwner}
		_, err := f.Users().Create(t.Context(), ben, n, nil)
		require.ErrorIs(t, err, auth.ErrOwner)
		require.ErrorIs(t, set(ben, benUser.ID, auth.RoleOwner), auth.ErrOwner, "nor oneself")
		cleo, err := f.Users().Create(t.Context(), owner, n, nil)
		require.NoError(t, err)
		require.Equal(t, auth.RoleOwner, cleo.Role)
		require.Equal(t, auth.AllPermissions(), cleo.Permissions)

		_, err = f.Users().Update(t.Context(), owner, cleo.ID, auth.UserChange{Permissions: auth.AllPermissions()})
		require.NoError(t, err)
		u, err := f.Users().Get(t.Context(), owner.Account, cleo.ID)
		require.NoError(t, err)
		require.Equal(t, auth.RoleOwner, u.Role, "nothing was taken")
		for _, role := range []auth.Role{auth.RoleAdmin, auth.RoleBuilder, auth.RoleAgent, auth.RoleViewer, auth.RoleOwner} {
			require.NoError(t, set(owner, cleo.ID, role))
			u, err := f.Users().Get(t.Context(), owner.Account, cleo.ID)
			require.NoError(t, err)
			require.Equal(t, role, u.Role)
		}
		var bad *auth.Invalid
		require.ErrorAs(t, set(owner, cleo.ID, "king"), &bad)
		require.Equal(t, "role", bad.Field)
		_, err = f.Users().Update(t.Context(), owner, cleo.ID, auth.UserChange{Role: auth.RoleAgent, Permissions: []auth.Permission{}})
		require.ErrorAs(t, err, &bad)

		id, program, err := f.Tokens().Create(t.Context(), owner, newToken(f, auth.AllPermissions()...))
		require.NoError(t, err)
		scoped := caller(t, f, program)
		require.Equal(t, id, scoped.TokenID)
		require.False(t, scoped.Owner, "a program is no owner")

		require.NoError(t, set(owner, owner.User, auth.RoleAdmin), "there is another")
		require.ErrorIs(t, set(owner, cleo.ID, auth.RoleAdmin), auth.ErrOwner, "what the caller was a moment ago does not count")
	})
}

// TestLastOwner takes ownership from several at once, on two nodes: one keeps
// it.
func TestLastOwner(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		nodes := []fixture{f, setup(t, f.db, auth.Options{}, secret)}
		first := caller(t, f, signUp(t, f, "ana@example.org").Token)
		for name, try := range attempts(t, f, first, first.User) {
			if name == "strip" || name == "demote" || name == "disable" || name == "delete" {
				require.ErrorIs(t, try(), auth.ErrLastOwner, name)
			}
		}
		owners := []auth.Caller{first}
		for i := range 5 {
			n := auth.NewUser{Email: fmt.Sprintf("u%d@example.org", i), Name: "U", Password: password, Role: auth.RoleOwner}
			_, err := f.Users().Create(t.Context(), first, n, nil)
			require.NoError(t, err)
			s, err := login(t, f, n.Email, password, home)
			require.NoError(t, err)
			owners = append(owners, caller(t, f, s.Token))
		}
		errs := make([]error, len(owners))
		var wg sync.WaitGroup
		for i, o := range owners {
			wg.Go(func() {
				errs[i] = attempts(t, nodes[i%2], o, o.User)[[]string{"strip", "demote", "disable", "delete"}[i%4]]()
			})
		}
		wg.Wait()
		refused := 0
		for _, err := range errs {
			if err != nil {
				require.ErrorIs(t, err, auth.ErrLastOwner)
				refused++
			}
		}
		require.Equal(t, 1, refused)
		var left int
		require.NoError(t, f.db.Get(&left, `SELECT count(*) FROM auth_user WHERE owner = 1 AND disabled_us = 0`))
		require.Equal(t, 1, left)
	})
}

// TestOwnersChangeEachOther has two owners delete each other at once.
func TestOwnersChangeEachOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		_, err := f.Users().Create(t.Context(), ana, auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password, Role: auth.RoleOwner}, nil)
		require.NoError(t, err)
		s, err := login(t, f, "ben@example.org", password, home)
		require.NoError(t, err)
		ben := caller(t, f, s.Token)
		errs := [2]error{}
		var wg sync.WaitGroup
		wg.Go(func() { errs[0] = f.Users().Delete(t.Context(), ana, ben.User) })
		wg.Go(func() { errs[1] = f.Users().Delete(t.Context(), ben, ana.User) })
		wg.Wait()
		if errs[0] != nil {
			errs[0], errs[1] = errs[1], errs[0]
		}
		require.NoError(t, errs[0])
		require.ErrorIs(t, errs[1], auth.ErrToken, "who is deleted deletes nobody")
	})
}

func TestOperatorMakesOwners(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		o := operator(t, f)
		ana, err := o.Create(t.Context(), "", auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: password}, nil)
		require.NoError(t, err)
		require.Equal(t, auth.RoleOwner, ana.Role)
		ben, err := o.Create(t.Context(), ana.AccountID, auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password}, nil)
		require.NoError(t, err)
		require.Equal(t, auth.RoleAdmin, ben.Role)
		cleo, err := o.Create(t.Context(), ana.AccountID, auth.NewUser{Email: "cleo@example.org", Name: "Cleo", Password: password, Role: auth.RoleAgent}, nil)
		require.NoError(t, err)
		require.Equal(t, auth.RoleAgent, cleo.Role)
		require.NoError(t, o.SetDisabled(t.Context(), "ana@example.org", true), "the operator is not kept from it")
		require.NoError(t, o.SetOwner(t.Context(), "Cleo@example.org"))
		cleo, err = f.Users().Get(t.Context(), ana.AccountID, cleo.ID)
		require.NoError(t, err)
		require.Equal(t, auth.RoleOwner, cleo.Role)
		require.ErrorIs(t, o.SetOwner(t.Context(), "nobody@example.org"), auth.ErrNotFound)
	})
}
