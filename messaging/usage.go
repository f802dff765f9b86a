package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
	"github.com/trunklinehq/trunkline/messaging/internal/contactcount"
)

// Usage is what an account has and has done.
type Usage struct {
	References int64
	Received   int64 // messages of contacts
	Sent       int64 // own messages, wherever they were written
	MediaBytes int64 // of the files that are kept now
}

const (
	usageIn  = "in"
	usageOut = "out"
)

// newCounter returns the counter of messages; imported history is not news.
func newCounter(db *database.DB, opts *Options) *usagecounter.Counter {
	return usagecounter.New(db, usagecounter.Options{
		Name: "messaging",
		Rows: `SELECT m.seq AS id, r.account, CASE WHEN m.mine THEN '` + usageOut + `' ELSE '` + usageIn + `' END AS what, m.created_us AS at_us
			FROM messaging_message AS m CROSS JOIN messaging_reference AS r WHERE r.id = m.reference AND m.past_us = 0`,
		Logger: opts.Logger, Now: opts.Now,
	})
}

// Usage says what the account has, and counts its messages from the day of
// since on, in UTC, also those that were deleted later. It is cheap to ask
// for.
func (a *Account) Usage(ctx context.Context, since time.Time) (Usage, error) {
	n, err := a.s.used.Since(ctx, a.id, since)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{Received: n[usageIn], Sent: n[usageOut]}
	err = a.s.db.QueryRowxContext(ctx, `SELECT (SELECT count(*) FROM messaging_reference WHERE account = $1),
		(SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM messaging_media WHERE account = $1 AND NOT gone)`, a.id).Scan(&u.References, &u.MediaBytes)
	if err != nil {
		return Usage{}, fmt.Errorf("counting what an account has: %w", err)
	}
	return u, nil
}

// Wanted is what an account asks for that [Options].Admit may refuse.
type Wanted string

// What is asked for.
const (
	WantReference Wanted = "references" // in the transaction that makes it
	WantContact   Wanted = "contacts"   // a chat that an account begins; never one that a contact begins
	WantMessage   Wanted = "messages"   // to be sent; never one that was received, nor a repeat
	WantStorage   Wanted = "storage"    // before a file is uploaded, of unknown size; never one that was received
)

// admit asks whether an account may have n more of something.
func (s *Service) admit(ctx context.Context, q Tx, account string, what Wanted, n int) error {
	if s.opts.Admit == nil || n == 0 {
		return nil
	}
	return s.opts.Admit(ctx, q, account, what, int64(n))
}

// References counts the references of an account.
func (s *Service) References(ctx context.Context, q database.Reader, account string, _ time.Time) (n int64, err error) {
	err = q.GetContext(ctx, &n, `SELECT count(*) FROM messaging_reference WHERE account = $1`, account)
	return n, err
}

// Contacts counts the chats of an account with people. It is cheap, however many there
// are.
func (s *Service) Contacts(ctx context.Context, q database.Reader, account string, _ time.Time) (n int64, err error) {
	return contactcount.Of(ctx, q, account)
}

// MediaBytes are the bytes of the files that an account keeps.
func (s *Service) MediaBytes(ctx context.Context, q database.Reader, account string, _ time.Time) (n int64, err error) {
	err = q.GetContext(ctx, &n, `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM messaging_media WHERE account = $1 AND NOT gone`, account)
	return n, err
}

// Sent counts the own messages of an account from the day of since on, in UTC.
func (s *Service) Sent(ctx context.Context, q database.Reader, account string, since time.Time) (int64, error) {
	n, err := s.used.SinceIn(ctx, q, account, since)
	return n[usageOut], err
}
