package billing

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Errors of [Service.Receive].
var (
	// ErrNoSecret reports that there is no secret to verify notifications with.
	ErrNoSecret = errors.New("billing: there is no secret to verify notifications with")
	// ErrSignature reports a notification that Stripe has not signed, or has signed
	// more than five minutes ago.
	ErrSignature = errors.New("billing: the signature does not verify")
	// ErrMalformed reports a signed body that is not a Stripe event.
	ErrMalformed = errors.New("billing: the body is not an event")
)

// Outcome is the outcome of a valid notification.
type Outcome string

// The outcomes.
const (
	Applied   Outcome = "applied"   // the subscription has changed
	Unchanged Outcome = "unchanged" // it changes nothing
	Stale     Outcome = "stale"     // it is older than the last applied
	Repeated  Outcome = "repeated"  // it was received before
	Ignored   Outcome = "ignored"   // it is of another type
	Dead      Outcome = "dead"      // it belongs to no account; it is stored in the table billing_dead
)

// signatureTTL is the maximum age of a signature.
const signatureTTL = 5 * time.Minute

// Expects checks the Stripe-Signature of a notification before its body is read. It
// returns [ErrNoSecret], or [ErrSignature] if the header is invalid or too old:
// [Service.Receive] would refuse any body with it.
func (s *Service) Expects(signature string) error {
	if s.opts.Secret == "" {
		return ErrNoSecret
	}
	var at int64
	signed := false
	for part := range strings.SplitSeq(signature, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			at, _ = strconv.ParseInt(value, 10, 64) // 0 is too old
		case "v1":
			sum, err := hex.DecodeString(value)
			signed = signed || err == nil && len(sum) == sha256.Size
		}
	}
	if !signed || time.Since(time.Unix(at, 0)) > signatureTTL {
		return ErrSignature
	}
	return nil
}

// Receive handles a notification: the unchanged body with its Stripe-Signature. It
// returns an outcome after the notification is stored, or one of the errors of this
// package.
func (s *Service) Receive(ctx context.Context, body []byte, signature string) (Outcome, error) {
	if s.opts.Secret == "" {
		return "", ErrNoSecret
	}
	if webhook.ValidatePayload(body, signature, s.opts.Secret) != nil {
		return "", ErrSignature
	}
	n, err := parse(body)
	if err != nil {
		return "", err
	}
	out := Ignored
	if n.kind != other {
		err = s.db.InTx(ctx, func(tx *database.Tx) (err error) {
			out, err = s.receive(ctx, tx, n)
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("storing a payment notification: %w", err)
	}
	s.notified(ctx, n, out)
	return out, nil
}

// notified counts a committed notification.
func (s *Service) notified(ctx context.Context, n notification, out Outcome) {
	if out == Dead {
		s.opts.Logger.WarnContext(ctx, "a payment notification belongs to no account", slog.String("event", n.ID))
	}
	if s.opts.Received != nil {
		s.opts.Received(out)
	}
}

// receive stores a notification and its effects.
func (s *Service) receive(ctx context.Context, tx *database.Tx, n notification) (Outcome, error) {
	now := database.Micros(s.opts.Now())
	res, err := tx.ExecContext(ctx, `INSERT INTO billing_event (id, seen_us) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, n.ID, now)
	if err != nil {
		return "", err
	}
	if fresh, err := res.RowsAffected(); err != nil || fresh == 0 {
		return Repeated, err
	}
	account, err := s.accountOf(ctx, tx, n)
	if err != nil {
		return "", err
	}
	if account == "" {
		_, err := tx.ExecContext(ctx, `INSERT INTO billing_dead (id, account, customer, reason, body, seen_us) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (id) DO NOTHING`, n.ID, n.account, n.customer, "it belongs to no account", n.body, now)
		return Dead, err
	}
	return s.apply(ctx, tx, account, n)
}

// accountOf returns the account of a notification: the one that it names, else that
// of its customer; "" if there is none. It stores the customer of a notification
// that names both.
func (s *Service) accountOf(ctx context.Context, tx *database.Tx, n notification) (string, error) {
	if n.account != "" {
		known, err := s.known(ctx, tx, n.account)
		if err != nil {
			return "", err
		}
		if known {
			return n.account, s.learn(ctx, tx, n)
		}
	}
	if n.customer == "" {
		return "", nil
	}
	var account string
	err := tx.GetContext(ctx, &account, `SELECT account FROM billing_customer WHERE customer = $1`, n.customer)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if known, err := s.known(ctx, tx, account); err != nil || !known {
		return "", err
	}
	return account, nil
}

func (s *Service) known(ctx context.Context, tx *database.Tx, account string) (bool, error) {
	if s.opts.Known == nil {
		return true, nil
	}
	return s.opts.Known(ctx, tx, account)
}

func (s *Service) learn(ctx context.Context, tx *database.Tx, n notification) error {
	if n.customer == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO billing_customer (customer, account, event_us) VALUES ($1, $2, $3)
		ON CONFLICT (customer) DO UPDATE SET account = excluded.account, event_us = excluded.event_us
		WHERE billing_customer.event_us <= excluded.event_us`, n.customer, n.account, n.at())
	return err
}

// apply changes the subscription of an account and calls Changed.
func (s *Service) apply(ctx context.Context, tx *database.Tx, account string, n notification) (Outcome, error) {
	was, err := s.locked(ctx, tx, account)
	if err != nil {
		return "", err
	}
	if n.at() < was.EventUS || n.at() == was.EventUS && n.rank() < was.EventRank {
		return Stale, nil
	}
	now, says := n.after(was)
	if !says {
		return Unchanged, nil
	}
	now.EventUS, now.EventRank = n.at(), n.rank()
	if _, err := tx.ExecContext(ctx, `UPDATE billing_subscription SET subscription = $1, plan = $2, status = $3, end_us = $4, event_us = $5,
		event_rank = $6 WHERE account = $7`, now.Subscription, now.Plan, now.Status, now.EndUS, now.EventUS, now.EventRank, account); err != nil {
		return "", err
	}
	if now.public() == was.public() {
		return Unchanged, nil
	}
	if s.opts.Changed != nil {
		if err := s.opts.Changed(ctx, tx, now.public()); err != nil {
			return "", err
		}
	}
	return Applied, nil
}

const columns = `account, subscription, plan, status, end_us, event_us, event_rank`

// row is a row of billing_subscription.
type row struct {
	Account      string `db:"account"`
	Subscription string `db:"subscription"`
	Plan         string `db:"plan"`
	Status       string `db:"status"`
	EndUS        int64  `db:"end_us"`
	EventUS      int64  `db:"event_us"`
	EventRank    int64  `db:"event_rank"`
}

func (r *row) public() Subscription {
	sub := Subscription{Account: r.Account, Plan: r.Plan, Status: r.Status}
	if r.EndUS != 0 {
		sub.CurrentPeriodEnd = database.Time(r.EndUS)
	}
	return sub
}

// locked locks and reads the row of an account. It creates the row if necessary.
func (s *Service) locked(ctx context.Context, tx *database.Tx, account string) (*row, error) {
	_, err := tx.ExecContext(ctx, `INSERT INTO billing_subscription (`+columns+`) VALUES ($1, '', '', '', 0, 0, 0)
		ON CONFLICT (account) DO NOTHING`, account)
	if err != nil {
		return nil, err
	}
	q := `SELECT ` + columns + ` FROM billing_subscription WHERE account = $1`
	if s.db.Dialect == database.Postgres {
		q += ` FOR UPDATE`
	}
	r := &row{}
	return r, tx.GetContext(ctx, r, q, account)
}
