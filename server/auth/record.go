package auth

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// asUser returns a context whose changes are recorded as those of a user who
// has just logged in; session is "" while there is none.
func asUser(ctx context.Context, u userRow, session string, cookie bool) context.Context {
	kind := audit.Login
	if cookie {
		kind = audit.Cookie
	}
	return audit.As(ctx, audit.Actor{Account: u.Account, User: u.ID, Email: u.Email, Kind: kind, Token: session})
}

// asNobody returns a context whose changes are recorded in the account of a
// user as those of a caller who is not identified.
func asNobody(ctx context.Context, u userRow) context.Context {
	return audit.As(ctx, audit.Actor{Account: u.Account, Kind: audit.Nobody})
}

// asOperator returns a context whose changes are recorded as those of an
// operator.
func asOperator(ctx context.Context, account string) context.Context {
	return audit.As(ctx, audit.Actor{Account: account, Kind: audit.Operator})
}

// recordUserTx records what was done to a user; details may be nil.
func recordUserTx(ctx context.Context, tx *database.Tx, action audit.Action, u userRow, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: u.ID, ObjectName: u.Email, Details: details})
}

// recordTokenTx records what was done to a scoped token.
func recordTokenTx(ctx context.Context, tx *database.Tx, action audit.Action, id, name string, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: id, ObjectName: name, Details: details})
}

// details are the names of what a change has, and the new rights.
func (ch *UserChange) details() map[string]any {
	var names []string
	for _, m := range []struct {
		name string
		is   bool
	}{
		{"name", ch.Name != nil},
		{"email", ch.Email != nil},
		{"password", ch.Password != nil},
		{"permissions", ch.Permissions != nil},
		{"role", ch.Role != ""},
		{"disabled", ch.Disabled != nil},
	} {
		if m.is {
			names = append(names, m.name)
		}
	}
	out := audit.Changed(names...) // a change has at least one, or it is nil
	if ch.Permissions != nil {
		out["permissions"] = ch.Permissions
	}
	if ch.Role != "" {
		out["role"] = ch.Role
	}
	if ch.Disabled != nil {
		out["disabled"] = *ch.Disabled
	}
	return out
}

// recordInvitationTx records what was done to an invitation.
func recordInvitationTx(ctx context.Context, tx *database.Tx, action audit.Action, row invitationRow) error {
	details := map[string]any{"permissions": row.rights()}
	if role := roleOf(row.Owner != 0, row.rights()); role != "" {
		details = map[string]any{"role": role}
	}
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: row.ID, ObjectName: row.Email, Details: details})
}

// recordFactorTx records what the caller, or else an administrator, did to the
// second factor of a user.
func recordFactorTx(ctx context.Context, tx *database.Tx, id, email string, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.UserSecondFactor, ObjectID: id, ObjectName: email, Details: details})
}

// factorOf are the details of a second factor that was turned on or off.
func factorOf(enabled bool) map[string]any { return map[string]any{"enabled": enabled} }
