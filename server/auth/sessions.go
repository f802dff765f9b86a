package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Open is a session that has not ended, as lists show it.
type Open struct {
	ID          string
	Kind        Kind
	Name        string       // of a scoped token
	Permissions []Permission // of a scoped token; else nil
	CreatedAt   time.Time
	UsedAt      time.Time // exact to a minute; the zero value: never
	ExpiresAt   time.Time // of a cookie session: unless it is used before
	Address     string    // of the last client; "": unknown
	Agent       string    // what the last client calls itself; "": unknown
	Current     bool      // the caller's own, of this request
}

// Sessions lists the sessions and tokens of a user that have not ended, the
// oldest first: the caller's own, or with [UsersManage] those of a user whom
// the caller may change. It returns [ErrForbidden], [ErrNotFound], [ErrGrant] or
// [ErrOwner] when that is refused.
func (s *Service) Sessions(ctx context.Context, by Caller, user string, l List) (Page[Open], error) {
	after, limit, err := l.position()
	if err != nil {
		return Page[Open]{}, err
	}
	if user != by.User {
		if !by.Can(UsersManage) {
			return Page[Open]{}, ErrForbidden
		}
		u, err := s.member(ctx, by.Account, user)
		if err != nil {
			return Page[Open]{}, err
		}
		if err := above(by, u); err != nil {
			return Page[Open]{}, err
		}
	}
	var rows []openRow
	err = s.db.SelectContext(ctx, &rows, `SELECT seq, id, kind, name, permissions, expires_us, created_us, used_us, address, agent
		FROM auth_session WHERE user_id = $1 AND seq > $2 AND expires_us > $3 ORDER BY seq LIMIT $4`,
		user, after, database.Micros(s.opts.Now()), limit+1)
	if err != nil {
		return Page[Open]{}, fmt.Errorf("listing sessions: %w", err)
	}
	open, next := page.Cut(rows, limit, func(r openRow) int64 { return r.Seq }, func(r openRow) Open { return r.open(by) })
	return Page[Open]{open, next}, nil
}

// RevokeSession ends a session of the caller, or with [UsersManage] one of a
// user whom the caller may change. It is refused on every node at once. It
// returns [ErrNotFound], also for the session of another user to a caller
// without [UsersManage], [ErrGrant] or [ErrOwner].
func (s *Service) RevokeSession(ctx context.Context, by Caller, id string) error {
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		var user string
		err := tx.GetContext(ctx, &user, `SELECT s.user_id FROM auth_session s JOIN auth_user u ON u.id = s.user_id
			WHERE s.id = $1 AND u.account_id = $2`, id, by.Account)
		if errors.Is(err, sql.ErrNoRows) || err == nil && user != by.User && !by.Can(UsersManage) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := mayEndTx(ctx, tx, by, user); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `DELETE FROM auth_session WHERE id = $1`, id); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.SessionRevoke, ObjectID: id, Details: map[string]any{"user": user}})
	})
	if err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// RevokeSessions ends all sessions and tokens of a user but that of the
// request, as [Service.RevokeSession] does.
func (s *Service) RevokeSessions(ctx context.Context, by Caller, user string) error {
	if user != by.User && !by.Can(UsersManage) {
		return ErrForbidden
	}
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		if err := mayEndTx(ctx, tx, by, user); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM auth_session WHERE user_id = $1 AND id <> $2`, user, by.TokenID); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.SessionRevoke, Details: map[string]any{"user": user, "all": true}})
	})
	if err != nil {
		return fmt.Errorf("ending sessions: %w", err)
	}
	return nil
}

// mayEndTx returns nil when the caller may end sessions of a user.
func mayEndTx(ctx context.Context, tx *sqlx.Tx, by Caller, user string) error {
	if user == by.User {
		return nil
	}
	if err := lockAccount(ctx, tx, by.Account); err != nil {
		return err
	}
	by, err := managerTx(ctx, tx, by)
	if err != nil {
		return err
	}
	u, err := memberTx(ctx, tx, by.Account, user)
	if err != nil {
		return err
	}
	return above(by, u)
}

// openRow is a row of auth_session, for a list.
type openRow struct {
	tokenRow
	Kind    Kind   `db:"kind"`
	Used    int64  `db:"used_us"`
	Address string `db:"address"`
	Agent   string `db:"agent"`
}

func (r openRow) open(by Caller) Open {
	out := Open{
		ID: r.ID, Kind: r.Kind, Name: r.Name, CreatedAt: database.Time(r.Created), ExpiresAt: database.Time(r.Expires),
		Address: r.Address, Agent: r.Agent, Current: r.ID == by.TokenID,
	}
	if r.Kind == KindScoped {
		out.Permissions = splitPermissions(r.Permissions)
	}
	if r.Used != 0 {
		out.UsedAt = database.Time(r.Used)
	}
	return out
}
