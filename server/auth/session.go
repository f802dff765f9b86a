package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Kind is what a session shows with a request.
type Kind string

// The kinds of sessions.
const (
	KindToken  Kind = "token"  // the token of a log-in
	KindCookie Kind = "cookie" // the cookie of a log-in, which may show the token instead
	KindScoped Kind = "scoped" // a scoped token
)

// Client is the program that makes a request.
type Client struct {
	Address netip.Addr // the zero value: unknown
	Agent   string     // what it calls itself
}

// maxAgent is how much of a client's own name is kept, in characters.
const maxAgent = 200

const (
	// MaxLogins is how many log-ins of a user there are at most: so many with a
	// cookie, and as many with a token alone. One more ends the log-in that was
	// not used for the longest time.
	MaxLogins = 100
	// MaxTokens is how many scoped tokens a user has at most.
	MaxTokens = 100
)

func (c Client) columns() (address, agent string) {
	if c.Address.IsValid() {
		address = c.Address.Unmap().String()
	}
	agent = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(c.Agent, ""))
	if rs := []rune(agent); len(rs) > maxAgent {
		agent = string(rs[:maxAgent])
	}
	return address, agent
}

// newSession is what begins a session.
type newSession struct {
	id          string // "": it gets one
	kind        Kind
	cookie      *string // hash of the cookie
	name        string
	permissions string
	expires     time.Time
	client      Client
}

// Sessions keeps the sessions of users. It is safe for concurrent use.
type Sessions struct {
	db      *database.DB
	now     func() time.Time
	log     *slog.Logger
	users   *Users
	tokens  signer
	touches touches
}

// beginTx stores a session.
func (s *Sessions) beginTx(ctx context.Context, tx *database.Tx, u userRow, n newSession) error {
	now := database.Micros(s.now())
	used := now
	if n.kind == KindScoped {
		used = 0
	}
	address, agent := n.client.columns()
	_, err := tx.ExecContext(ctx, `INSERT INTO auth_session
		(id, user_id, kind, cookie, version, name, permissions, expires_us, created_us, used_us, address, agent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		n.id, u.ID, n.kind, n.cookie, u.Version, n.name, n.permissions, database.Micros(n.expires), now, used, address, agent)
	if err != nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	return nil
}

// trimTx ends the log-ins of a kind that a user has beyond [MaxLogins], those
// first that were not used for the longest time. A user of an older version may
// have any number: one call ends a few hundred.
func trimTx(ctx context.Context, tx *database.Tx, user string, kind Kind) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM auth_session WHERE id IN (SELECT id FROM auth_session
		WHERE user_id = $1 AND kind = $2 ORDER BY used_us DESC, seq DESC LIMIT %d OFFSET %d)`, smallRows, MaxLogins), user, kind)
	if err != nil {
		return fmt.Errorf("ending old log-ins of a user: %w", err)
	}
	return nil
}

// begin begins the session of a user who is identified.
func (s *Sessions) begin(ctx context.Context, u userRow, cookie bool, from Client) (Session, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return Session{}, fmt.Errorf("making a session id: %w", err)
	}
	token, expires, err := s.tokens.issue(u, id.String())
	if err != nil {
		return Session{}, err
	}
	out := Session{Token: token, ExpiresAt: expires, User: u.user()}
	n := newSession{id: id.String(), kind: KindToken, expires: expires, client: from}
	if cookie {
		value, hash := newOpaque()
		out.Cookie, n.kind, n.cookie, n.expires = value, KindCookie, &hash, s.now().Add(CookieIdle)
	}
	ctx = asUser(ctx, u, n.id, cookie)
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		if err := s.beginTx(ctx, tx, u, n); err != nil {
			return err
		}
		if err := trimTx(ctx, tx, u.ID, n.kind); err != nil {
			return err
		}
		return recordUserTx(ctx, tx, audit.UserLogin, u, nil)
	})
	return out, err
}

// activeSession is a session with what a request needs to know of its user.
type activeSession struct {
	ID      string `db:"id"`
	Kind    Kind   `db:"kind"`
	Started int64  `db:"begun"` // version of the user when it began
	Expires int64  `db:"expires_us"`
	Created int64  `db:"created_us"`
	Used    int64  `db:"used_us"`

	User        string `db:"user_id"`
	Account     string `db:"account_id"`
	Version     int64  `db:"version"`
	Permissions string `db:"permissions"`
	Owner       int64  `db:"owner"`
	Email       string `db:"email"`
	Disabled    int64  `db:"disabled_us"`
}

const activeSessions = `SELECT s.id, s.kind, s.version AS begun, s.expires_us, s.created_us, s.used_us,
	u.id AS user_id, u.account_id, u.version, u.permissions, u.owner, u.email, u.disabled_us
	FROM auth_session s JOIN auth_user u ON u.id = s.user_id JOIN auth_account a ON a.id = u.account_id WHERE a.closed_us = 0 AND `

// active finds a session by the statement of its key. It is asked with every
// request, and of nothing that a node remembers: what has ended has ended on
// every node. It returns [ErrToken] when the session or its user is gone.
func (s *Sessions) active(ctx context.Context, statement, key string) (activeSession, error) {
	var a activeSession
	err := s.db.GetContext(ctx, &a, statement, key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return a, ErrToken
	case err != nil:
		return a, fmt.Errorf("reading a session: %w", err)
	case a.Disabled != 0 || database.Micros(s.now()) >= a.Expires:
		return a, ErrToken
	}
	return a, nil
}

func (a activeSession) caller() Caller {
	u := userRow{Permissions: a.Permissions, Owner: a.Owner}
	return Caller{
		User: a.User, Account: a.Account, Email: a.Email, Permissions: u.rights(), Owner: u.owns(), TokenID: a.ID,
		used: database.Time(a.Used), created: database.Time(a.Created),
	}
}

// touchInterval is how exactly the last request is remembered: one write a
// minute and session at most.
const touchInterval = time.Minute

// Seen remembers when a session was last used, and by which client, at most
// once a minute. A cookie session continues for [CookieIdle] from then, but not
// beyond [CookieTTL]. A request does not fail because the store takes nothing
// for now.
func (s *Sessions) Seen(ctx context.Context, by Caller, from Client) {
	now := s.now()
	if now.Sub(by.used) < touchInterval || !s.touches.begin(by.TokenID, now) {
		return
	}
	address, agent := from.columns()
	expires := by.created.Add(CookieTTL)
	if idle := now.Add(CookieIdle); idle.Before(expires) {
		expires = idle
	}
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE auth_session SET used_us = $1, address = $2, agent = $3,
			expires_us = CASE WHEN kind = 'cookie' THEN $4 ELSE expires_us END WHERE id = $5 AND used_us <= $6`,
			database.Micros(now), address, agent, database.Micros(expires), by.TokenID, database.Micros(now.Add(-touchInterval)))
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "prolonging a session", slog.Any("error", err))
	}
}

// touches keeps requests of one session that come together from all writing
// that it was used.
type touches struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const maxTouches = 10_000

func (t *touches) begin(id string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.last[id]; ok && now.Sub(last) < touchInterval {
		return false
	}
	if t.last == nil || len(t.last) >= maxTouches {
		t.last = map[string]time.Time{}
	}
	t.last[id] = now
	return true
}

// End ends the session with which a caller makes a request: a token, a
// cookie, or both of one log-in.
func (s *Sessions) End(ctx context.Context, by Caller) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		ended, err := inserted(tx.ExecContext(ctx, `DELETE FROM auth_session WHERE id = $1 AND user_id = $2`, by.TokenID, by.User))
		if err != nil || !ended {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.UserLogout, ObjectID: by.User, ObjectName: by.Email})
	})
	if err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

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

// List returns a page of the sessions and tokens of a user that have not ended, the
// oldest first: the caller's own, or with [UsersManage] those of a user whom
// the caller may change. It returns [ErrForbidden], [ErrNotFound], [ErrGrant] or
// [ErrOwner] when that is refused.
func (s *Sessions) List(ctx context.Context, by Caller, user string, l List) (Page[Open], error) {
	if user != by.User {
		if !by.Can(UsersManage) {
			return Page[Open]{}, ErrForbidden
		}
		u, err := s.users.member(ctx, by.Account, user)
		if err != nil {
			return Page[Open]{}, err
		}
		if err := above(by, u); err != nil {
			return Page[Open]{}, err
		}
	}
	return page.Select(ctx, s.db, l, "sessions", func(r openRow) int64 { return r.Seq }, func(r openRow) Open { return r.open(by) },
		`SELECT seq, id, kind, name, permissions, expires_us, created_us, used_us, address, agent
		FROM auth_session WHERE user_id = $1 AND expires_us > $2 AND seq > $3 ORDER BY seq LIMIT $4`, user, database.Micros(s.now()))
}

// Revoke ends a session of the caller, or with [UsersManage] one of a
// user whom the caller may change. It is refused on every node at once. It
// returns [ErrNotFound], also for the session of another user to a caller
// without [UsersManage], [ErrGrant] or [ErrOwner].
func (s *Sessions) Revoke(ctx context.Context, by Caller, id string) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
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

// RevokeAll ends all sessions and tokens of a user but that of the
// request, as [Sessions.Revoke] does.
func (s *Sessions) RevokeAll(ctx context.Context, by Caller, user string) error {
	if user != by.User && !by.Can(UsersManage) {
		return ErrForbidden
	}
	err := s.db.Write(ctx, func(tx *database.Tx) error {
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
func mayEndTx(ctx context.Context, tx *database.Tx, by Caller, user string) error {
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
