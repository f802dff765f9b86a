package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit/totp"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
)

// recorder keeps what is recorded, or refuses it.
type recorder struct {
	lines []string
	full  bool
}

var errFull = errors.New("the audit log is full")

func (r *recorder) RecordTx(_ context.Context, _ database.Executor, x audit.Record) error {
	if r.full {
		return errFull
	}
	details, err := json.Marshal(x.Details)
	r.lines = append(r.lines, fmt.Sprintf("%s by %s %s: %s %s", x.Action, x.Kind, x.Email, x.ObjectName, details))
	return err
}

// TestAudit records each change of a user, with who made it. A change that cannot be
// recorded is not made.
func TestAudit(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{HasReferences: refs(1)}, secret)
	r := &recorder{}
	bare := audit.With(t.Context(), r, audit.Origin{Address: "192.0.2.1"})
	s, err := f.SignUp(bare, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: password})
	require.NoError(t, err)
	ana := caller(t, f, s.Token)
	ctx := audit.As(bare, audit.Actor{Account: ana.Account, Kind: audit.Login, Email: ana.Email})
	o := operator(t, f)

	var ben auth.User
	var token string
	var codes []string
	name, off, on := "Benno", true, false
	invitation := auth.NewInvitation{Email: "cleo@example.org", Role: auth.RoleOwner}
	for _, c := range []struct {
		want string
		do   func() error
	}{
		{"user.create by login ana@example.org: ben@example.org", func() (err error) {
			ben, err = f.Users().Create(ctx, ana, auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password}, []auth.Permission{auth.ChatsRead})
			return err
		}},
		{`user.update by login ana@example.org: ben@example.org {"changed":["name"]}`, func() error {
			_, err := f.Users().Update(ctx, ana, ben.ID, auth.UserChange{Name: &name})
			return err
		}},
		{`user.update by login ana@example.org: ben@example.org {"changed":["permissions"],"permissions":["chats.send"]}`, func() error {
			_, err := f.Users().Update(ctx, ana, ben.ID, auth.UserChange{Permissions: []auth.Permission{auth.ChatsSend}})
			return err
		}},
		{`user.update by login ana@example.org: ben@example.org {"changed":["disabled"],"disabled":true}`, func() error {
			_, err := f.Users().Update(ctx, ana, ben.ID, auth.UserChange{Disabled: &off})
			return err
		}},
		{`user.update by login ana@example.org: ben@example.org {"changed":["disabled"],"disabled":false}`, func() error {
			_, err := f.Users().Update(ctx, ana, ben.ID, auth.UserChange{Disabled: &on})
			return err
		}},
		{"user.login by login ben@example.org: ben@example.org", func() error {
			_, err := f.Login(bare, auth.Credentials{Email: "ben@example.org", Password: password, Address: home})
			return err
		}},
		{"user.login by cookie ben@example.org: ben@example.org", func() error {
			_, err := f.Login(bare, auth.Credentials{Email: "ben@example.org", Password: password, Address: home, Cookie: true})
			return err
		}},
		{"user.reset by operator : ben@example.org null", func() error { return o.SetPassword(bare, "ben@example.org", "battery staple") }},
		{`user.update by operator : ben@example.org {"changed":["role"],"role":"owner"}`, func() error { return o.SetOwner(bare, "ben@example.org") }},
		{"invitation.create by login ana@example.org: cleo@example.org", func() (err error) {
			_, token, err = f.Invitations().Create(ctx, ana, invitation)
			return err
		}},
		{"invitation.accept by ", func() error {
			_, err := f.Invitations().Accept(bare, token, auth.NewUser{Name: "Cleo", Password: password, Address: home})
			return err
		}},
		{`user.secondFactor by login ana@example.org: ana@example.org {"enabled":true}`, func() error {
			e, err := f.SecondFactor().Enrol(ctx, ana, password, home)
			if err != nil {
				return err
			}
			codes, err = f.SecondFactor().Confirm(ctx, ana, totp.Code(t, e.Secret, f.clock.now()))
			return err
		}},
		{`user.secondFactor by login ana@example.org: ana@example.org {"changed":["recoveryCodes"]}`, func() (err error) {
			codes, err = f.SecondFactor().RenewRecoveryCodes(ctx, ana, password, home)
			return err
		}},
		{"token.create by login ana@example.org: Shop", func() (err error) {
			_, _, err = f.Tokens().Create(ctx, ana, newToken(f, auth.ChatsRead))
			return err
		}},
		{"session.revoke by login ana@example.org", func() error { return f.Sessions().RevokeAll(ctx, ana, ana.User) }},
		{"user.logout by login ana@example.org: ana@example.org", func() error {
			s, err := f.Login(t.Context(), auth.Credentials{Email: "ana@example.org", Password: password, Address: home, Code: codes[0]})
			if err != nil {
				return err
			}
			codes = codes[1:]
			ana = caller(t, f, s.Token)
			return f.Sessions().End(ctx, ana)
		}},
		{"user.delete by login ana@example.org: ben@example.org", func() error { return f.Users().Delete(ctx, ana, ben.ID) }},
	} {
		r.lines, r.full = nil, true
		require.ErrorIs(t, c.do(), errFull, c.want)
		r.full = false
		require.NoError(t, c.do(), c.want)
		require.NotEmpty(t, r.lines, c.want)
		require.Truef(t, strings.HasPrefix(r.lines[0], c.want), "%s: %s", c.want, r.lines)
	}
	r.lines = nil
	require.NoError(t, f.Sessions().End(ctx, ana))
	require.Empty(t, r.lines, "a session ends once")

	x := auth.External{Identity: oidc.Identity{Issuer: "https://id.example", Subject: "1", Email: "eva@example.org", EmailVerified: true, Name: "Eva"}, Address: home}
	for _, want := range []string{"account.create by", "user.login by cookie eva@example.org"} {
		r.lines = nil
		_, err := f.LoginExternal(bare, x)
		require.NoError(t, err)
		require.Lenf(t, r.lines, 1, "%s: %s", want, r.lines)
		require.Truef(t, strings.HasPrefix(r.lines[0], want), "%s: %s", want, r.lines)
	}
}

// TestReferencesCannotBeRead refuses permissions whose references cannot be looked up.
func TestReferencesCannotBeRead(t *testing.T) {
	t.Parallel()
	down := errors.New("the database is down")
	f := setup(t, migrated(t), auth.Options{HasReferences: func(context.Context, string, []int64) (bool, error) { return true, down }}, secret)
	ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
	_, err := f.Users().Create(t.Context(), ana, auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password}, []auth.Permission{auth.ChatsRead.On(1)})
	require.ErrorIs(t, err, down)
}
