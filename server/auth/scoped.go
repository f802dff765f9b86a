package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// MaxTokenTTL is how long a scoped token may be valid.
const MaxTokenTTL = 366 * 24 * time.Hour

// NewToken is a request for a scoped token: a token for a program, with some
// of its owner's rights.
type NewToken struct {
	Name        string // 1..200 characters
	Permissions []Permission
	ExpiresAt   time.Time // to the second; at most [MaxTokenTTL] from now
}

// Token is a scoped token that is valid. What it is itself is shown only once.
type Token struct {
	ID          string
	Name        string
	Permissions []Permission // never nil
	ExpiresAt   time.Time
	CreatedAt   time.Time
}

// Tokens keeps the scoped tokens of users. It is safe for concurrent use.
type Tokens struct {
	db       *database.DB
	now      func() time.Time
	users    *Users
	sessions *Sessions
}

// Create makes a scoped token of a caller, with rights that the caller has. It
// does not get rights that the caller gets later, and loses those that the caller loses. It
// returns [Invalid], [ErrGrant] or [ErrTokens] when that is refused.
func (s *Tokens) Create(ctx context.Context, by Caller, n NewToken) (id, token string, err error) {
	if n.Name, err = normalName(n.Name); err != nil {
		return "", "", err
	}
	if n.Permissions, err = normalPermissions(n.Permissions); err != nil {
		return "", "", err
	}
	if err := s.users.checkReferences(ctx, by.Account, n.Permissions, nil); err != nil {
		return "", "", err
	}
	if len(n.Permissions) == 0 {
		return "", "", &Invalid{Field: "permissions", Message: "must have at least one permission"}
	}
	now, expires := s.now(), n.ExpiresAt.Truncate(time.Second)
	if !expires.After(now) || expires.Sub(now) > MaxTokenTTL {
		return "", "", &Invalid{Field: "expiresAt", Message: "must be in the future, and at most a year from now"}
	}
	if by.missing(n.Permissions) {
		return "", "", ErrGrant
	}
	u, err := s.users.member(ctx, by.Account, by.User)
	if err != nil {
		return "", "", err
	}
	v7, err := uuid.NewV7()
	if err != nil {
		return "", "", fmt.Errorf("making a token id: %w", err)
	}
	id = v7.String()
	if token, err = s.sessions.tokens.signed(u, id, expires, &n.Permissions); err != nil {
		return "", "", err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		if err := roomTx(ctx, tx, by.User, now); err != nil {
			return err
		}
		err := s.sessions.beginTx(ctx, tx, u, newSession{id: id, kind: KindScoped, name: n.Name, permissions: joinPermissions(n.Permissions), expires: expires})
		if err != nil {
			return err
		}
		return recordTokenTx(ctx, tx, audit.TokenCreate, id, n.Name, map[string]any{"permissions": n.Permissions, "expiresAt": expires.Unix()})
	})
	if err != nil {
		return "", "", fmt.Errorf("creating a token: %w", err)
	}
	return id, token, nil
}

// roomTx returns [ErrTokens] when a user has [MaxTokens] scoped tokens that have
// not ended. It follows [lockAccount], which lets one token be made at a time.
func roomTx(ctx context.Context, tx *database.Tx, user string, now time.Time) error {
	var has int
	err := tx.GetContext(ctx, &has, `SELECT count(*) FROM auth_session WHERE user_id = $1 AND kind = 'scoped' AND expires_us > $2`,
		user, database.Micros(now))
	if err != nil {
		return fmt.Errorf("counting the tokens of a user: %w", err)
	}
	if has >= MaxTokens {
		return ErrTokens
	}
	return nil
}

// List returns a page of the scoped tokens of a caller that are valid, the oldest first.
func (s *Tokens) List(ctx context.Context, by Caller, l List) (Page[Token], error) {
	return page.Select(ctx, s.db, l, "tokens", func(r tokenRow) int64 { return r.Seq }, tokenRow.token,
		`SELECT seq, id, name, permissions, expires_us, created_us FROM auth_session
		WHERE user_id = $1 AND kind = 'scoped' AND expires_us > $2 AND seq > $3 ORDER BY seq LIMIT $4`, by.User, database.Micros(s.now()))
}

// Revoke ends a scoped token of a caller, or returns [ErrNotFound]. It
// is refused on every node at once.
func (s *Tokens) Revoke(ctx context.Context, by Caller, id string) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		var name string
		err := tx.GetContext(ctx, &name, `DELETE FROM auth_session WHERE id = $1 AND user_id = $2 AND kind = 'scoped' RETURNING name`, id, by.User)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		return recordTokenTx(ctx, tx, audit.TokenRevoke, id, name, nil)
	})
	if err != nil {
		return fmt.Errorf("revoking a token: %w", err)
	}
	return nil
}

// tokenRow is a scoped token in auth_session.
type tokenRow struct {
	Seq         int64  `db:"seq"`
	ID          string `db:"id"`
	Name        string `db:"name"`
	Permissions string `db:"permissions"`
	Expires     int64  `db:"expires_us"`
	Created     int64  `db:"created_us"`
}

func (r tokenRow) token() Token {
	return Token{
		ID: r.ID, Name: r.Name, Permissions: splitPermissions(r.Permissions),
		ExpiresAt: database.Time(r.Expires), CreatedAt: database.Time(r.Created),
	}
}
