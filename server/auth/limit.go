package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Quota is the state of a counter after it was counted up.
type Quota struct {
	Limit     int
	Remaining int           // 0 or more
	Reset     time.Duration // until the counter begins again
	Over      bool          // this call was one too many
}

// limits counts calls and attempts to log in.
type limits struct {
	db      *database.DB
	now     func() time.Time
	devices *devices
}

// limit counts calls in a window that begins with the first of them. The
// counters are in the database, so they hold over nodes and restarts.
type limit struct {
	name   string
	max    int
	window time.Duration
}

// loginLimit lets an address fail ten times.
func loginLimit(from netip.Addr) limit {
	return limit{"login " + network(from), 10, 15 * time.Minute}
}

// passkeyLimit lets an address fail ten times with passkeys.
func passkeyLimit(from netip.Addr) limit {
	return limit{"passkey " + network(from), 10, 15 * time.Minute}
}

func publicLimit(from netip.Addr) limit {
	return limit{"public " + network(from), 60, time.Minute}
}

// emailLimit closes an e-mail once there were more than 100 failures. It is
// named by a hash: the e-mail may belong to no user.
func emailLimit(email string) limit {
	return limit{"email " + hashOpaque(email), 101, time.Hour}
}

// resetLimit is how many mails an e-mail gets.
func resetLimit(email string) limit {
	return limit{"reset " + hashOpaque(email), 3, time.Hour}
}

// signUpLimit is how many mails of sign-ups an e-mail gets.
func signUpLimit(email string) limit {
	return limit{"signup " + hashOpaque(email), 3, time.Hour}
}

// signUpsLimit is how many sign-ups an address makes that end with a mail: it
// goes to whomever a stranger names.
func signUpsLimit(from netip.Addr) limit {
	return limit{"signups " + network(from), 10, time.Hour}
}

// invitationLimit is how many invitations an account makes: mails in its name
// go to strangers.
func invitationLimit(account string) limit {
	return limit{"invite " + hashOpaque(account), 100, 24 * time.Hour}
}

// invitedLimit is how many invitations an e-mail gets of an account.
func invitedLimit(account, email string) limit {
	return limit{"invited " + hashOpaque(account+" "+email), 3, time.Hour}
}

// network is what counts as one address: all of IPv4, the /64 of IPv6, which
// one subscriber has whole.
func network(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		p, _ := a.Prefix(64) // fails only for lengths over 128
		return p.String()
	}
	return a.String()
}

// TakePublic counts a call that needs no token, of which an address has 60 a
// minute. One that is refused writes nothing.
func (s *Service) TakePublic(ctx context.Context, from netip.Addr) (q Quota, err error) {
	l := publicLimit(from)
	if q, err = s.limits.seen(ctx, l); err != nil || q.Over {
		return q, err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		q, err = s.limits.takeTx(ctx, tx, l)
		return err
	})
	return q, err
}

// counter is a row of auth_limit.
type counter struct {
	Count int   `db:"count"`
	Ends  int64 `db:"ends_us"`
}

// takeTx counts a call, also one that is refused.
func (c *limits) takeTx(ctx context.Context, tx *database.Tx, l limit) (Quota, error) {
	now := c.now()
	var row counter
	err := tx.GetContext(ctx, &row, `INSERT INTO auth_limit (name, count, ends_us) VALUES ($1, 1, $2)
		ON CONFLICT (name) DO UPDATE SET
			count = CASE WHEN auth_limit.ends_us <= $3 THEN 1 ELSE auth_limit.count + 1 END,
			ends_us = CASE WHEN auth_limit.ends_us <= $3 THEN excluded.ends_us ELSE auth_limit.ends_us END
		RETURNING count, ends_us`,
		l.name, database.Micros(now.Add(l.window)), database.Micros(now))
	if err != nil {
		return Quota{}, fmt.Errorf("counting a call: %w", err)
	}
	return l.quota(row, now), nil
}

// seen is what another call would find, which is not counted.
func (c *limits) seen(ctx context.Context, l limit) (Quota, error) {
	now := c.now()
	row := counter{Ends: database.Micros(now.Add(l.window))}
	err := c.db.GetContext(ctx, &row, `SELECT count, ends_us FROM auth_limit WHERE name = $1 AND ends_us > $2`, l.name, database.Micros(now))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Quota{}, fmt.Errorf("reading how many calls there were: %w", err)
	}
	row.Count++
	return l.quota(row, now), nil
}

func (l limit) quota(row counter, now time.Time) Quota {
	return Quota{
		Limit: l.max, Remaining: max(0, l.max-row.Count),
		Reset: max(0, database.Time(row.Ends).Sub(now)), Over: row.Count > l.max,
	}
}
