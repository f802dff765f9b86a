package auth_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// references is an account's references, for auth.Options.
func refs(has ...int64) func(context.Context, string, []int64) (bool, error) {
	return func(_ context.Context, _ string, ids []int64) (bool, error) {
		return !slices.ContainsFunc(ids, func(id int64) bool { return !slices.Contains(has, id) }), nil
	}
}

func TestPermissionSplit(t *testing.T) {
	t.Parallel()
	base, reference := auth.ChatsRead.On(17).Split()
	require.Equal(t, auth.ChatsRead, base)
	require.EqualValues(t, 17, reference)
	for _, p := range []auth.Permission{"chats.read", "chats.read@", "chats.read@0", "chats.read@-1", "chats.read@+1", "chats.read@01", "chats.read@1 ", "chats.read@1@2", "@1x", "chats.read@9223372036854775808"} {
		base, reference := p.Split()
		require.Equal(t, p, base)
		require.Zero(t, reference)
	}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	one, two, all := auth.ChatsRead.On(1), auth.ChatsRead.On(2), auth.ChatsRead
	type list = []auth.Permission
	for _, c := range []struct{ a, b, both list }{
		{list{all}, list{all}, list{all}},
		{list{all}, list{two, one}, list{one, two}},
		{list{one, two}, list{all}, list{one, two}},
		{list{one}, list{two}, list{}},
		{list{one, two}, list{two}, list{two}},
		{list{all, auth.ChatsSend.On(1)}, list{one, auth.ChatsSend}, list{one, auth.ChatsSend.On(1)}},
		{list{auth.ChatsSend}, list{one}, list{}},
		{list{all, one}, list{all, two}, list{all}},
		{nil, list{all}, list{}},
	} {
		require.Equal(t, c.both, auth.Effective(c.a, c.b), "%v and %v", c.a, c.b)
		require.Equal(t, c.both, auth.Effective(c.b, c.a), "%v and %v", c.b, c.a)
	}
	c := auth.Caller{Permissions: list{auth.ChatsRead.On(3), auth.ChatsRead.On(12), auth.ChatsSend}}
	require.False(t, c.Can(auth.ChatsRead))
	require.True(t, c.CanOn(auth.ChatsRead, 12))
	require.False(t, c.CanOn(auth.ChatsRead, 1))
	require.True(t, c.CanOn(auth.ChatsSend, 1))
	ids, whole := c.References(auth.ChatsRead)
	require.Equal(t, []int64{3, 12}, ids)
	require.False(t, whole)
	_, whole = c.References(auth.ChatsSend)
	require.True(t, whole)
	ids, whole = c.References(auth.BotsManage)
	require.Empty(t, ids)
	require.False(t, whole)
}

// TestLimitedGrants has people give permissions on references.
func TestLimitedGrants(t *testing.T) {
	t.Parallel()
	eachWith(t, auth.Options{HasReferences: refs(1, 2)}, func(t *testing.T, f fixture) {
		boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
		benUser, ben := member(t, f, boss, "ben@example.org", auth.UsersManage, auth.ChatsRead.On(2), auth.ChatsRead.On(1), auth.ChatsSend.On(2))
		require.Equal(t, []auth.Permission{auth.UsersManage, "chats.read@1", "chats.read@2", "chats.send@2"}, ben.Permissions)

		cleoUser, _ := member(t, f, ben, "cleo@example.org", auth.ChatsRead.On(1))
		for _, p := range []auth.Permission{auth.ChatsRead, auth.ChatsSend, auth.ChatsSend.On(1)} {
			_, err := f.Users().Create(t.Context(), ben, auth.NewUser{Email: "d@example.org", Name: "D", Password: password}, []auth.Permission{p})
			require.ErrorIs(t, err, auth.ErrGrant, p)
			_, err = f.Users().Update(t.Context(), ben, cleoUser.ID, auth.UserChange{Permissions: []auth.Permission{p}})
			require.ErrorIs(t, err, auth.ErrGrant, p)
			_, _, err = f.Tokens().Create(t.Context(), ben, newToken(f, p))
			require.ErrorIs(t, err, auth.ErrGrant, p)
		}
		_, token, err := f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsRead.On(2)))
		require.NoError(t, err)
		require.Equal(t, []auth.Permission{"chats.read@2"}, caller(t, f, token).Permissions)
		_, wide, err := f.Tokens().Create(t.Context(), boss, newToken(f, auth.ChatsRead, auth.ChatsSend.On(1)))
		require.NoError(t, err)
		require.Equal(t, []auth.Permission{auth.ChatsRead, "chats.send@1"}, caller(t, f, wide).Permissions)

		// A user of the whole permission may be given less of it.
		_, err = f.Users().Update(t.Context(), boss, benUser.ID, auth.UserChange{Permissions: []auth.Permission{auth.ChatsRead}})
		require.NoError(t, err)
		require.Equal(t, []auth.Permission{"chats.read@2"}, caller(t, f, token).Permissions)
		_, err = f.Users().Update(t.Context(), boss, benUser.ID, auth.UserChange{Permissions: []auth.Permission{auth.ChatsRead.On(1)}})
		require.NoError(t, err)
		require.Empty(t, caller(t, f, token).Permissions)
	})
}

func TestLimitedGrantsRefused(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	f := setup(t, db, auth.Options{HasReferences: refs(1, 2)}, secret)
	boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
	many := make([]auth.Permission, auth.MaxPermissions+1)
	for i := range many {
		many[i] = auth.ChatsRead.On(int64(i + 1))
	}
	refused := func(f fixture, message string, ps ...auth.Permission) {
		t.Helper()
		var bad *auth.Invalid
		_, err := f.Users().Create(t.Context(), boss, auth.NewUser{Email: "b@example.org", Name: "B", Password: password}, ps)
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Message, message)
		_, err = f.Users().Update(t.Context(), boss, boss.User, auth.UserChange{Permissions: append(ps, auth.UsersManage)})
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Message, message)
		_, _, err = f.Tokens().Create(t.Context(), boss, newToken(f, ps...))
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Message, message)
	}
	refused(f, "users.manage, flows.manage, mcp.execute", "users.manage@1", "chats.read@1", "flows.manage@1", "mcp.execute@2", "users.manage@2")
	refused(f, "reference that does not exist", "chats.read@1", "chats.read@3")
	refused(f, "must be permissions that exist", "chats.read@x")
	refused(f, "at most", many...)
	refused(setup(t, db, auth.Options{}, secret), "reference that does not exist", "chats.read@1")
	_, err := operator(t, f).Create(t.Context(), boss.Account, auth.NewUser{Email: "b@example.org", Name: "B", Password: password}, []auth.Permission{"chats.read@1"})
	require.ErrorAs(t, err, new(*auth.Invalid))

	// The grant on a reference that was deleted may stay in the list.
	benUser, _ := member(t, f, boss, "ben@example.org", auth.ChatsRead.On(2))
	f = setup(t, db, auth.Options{HasReferences: refs(1)}, secret)
	u, err := f.Users().Update(t.Context(), boss, benUser.ID, auth.UserChange{Permissions: []auth.Permission{auth.ChatsRead.On(2), auth.ChatsRead.On(1)}})
	require.NoError(t, err)
	require.Equal(t, []auth.Permission{"chats.read@1", "chats.read@2"}, u.Permissions)
}

// TestLongToken fits the longest list of permissions into a header of 8 KiB.
func TestLongToken(t *testing.T) {
	t.Parallel()
	has := func(context.Context, string, []int64) (bool, error) { return true, nil }
	f := setup(t, migrated(t), auth.Options{HasReferences: has}, secret)
	boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
	maxLength := slices.MaxFunc(auth.AllPermissions(), func(a, b auth.Permission) int { return len(a) - len(b) })
	ps := make([]auth.Permission, auth.MaxPermissions)
	for i := range ps {
		ps[i] = maxLength.On(int64(1_000_000 + i))
	}
	_, token, err := f.Tokens().Create(t.Context(), boss, newToken(f, ps...))
	require.NoError(t, err)
	require.Less(t, len("Authorization: Bearer "+token), 8<<10)
	require.Equal(t, 2, strings.Count(token, "."))
	require.Len(t, caller(t, f, token).Permissions, auth.MaxPermissions)
}
