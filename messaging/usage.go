package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/usagecounter"
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

// counter counts messages; imported history is not news.
func (s *Service) counter() *usagecounter.Counter {
	return usagecounter.New(s.db, usagecounter.Options{
		Name: "messaging",
		Rows: `SELECT m.seq AS id, r.account, CASE WHEN m.mine THEN '` + usageOut + `' ELSE '` + usageIn + `' END AS what, m.created_us AS at_us
			FROM messaging_message AS m CROSS JOIN messaging_reference AS r WHERE r.id = m.reference AND m.past_us = 0`,
		Logger: s.opts.Logger, Now: s.opts.Now,
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
