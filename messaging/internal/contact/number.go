package contact

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// NumberTTL is how long the answer about a number is kept and used.
	NumberTTL = 24 * time.Hour
	// maxNumberLookups is how many numbers a reference asks its network for within
	// numberLookupWindow. Networks take more for spam.
	maxNumberLookups   = 20
	numberLookupWindow = time.Minute
)

const (
	numberAbsent = iota
	numberExists
	numberUnknown
)

// numberRow is an answer as its table has it.
type numberRow struct {
	Answer    int    `db:"answer"`
	ChatID    string `db:"chat_id"`
	CreatedUS int64  `db:"created_us"`
}

func (n *numberRow) view(phone string) payload.Number {
	out := payload.Number{Phone: phone, ChatID: n.ChatID}
	if n.Answer != numberUnknown {
		out.Exists = new(n.Answer == numberExists)
	}
	return out
}

// Numbers checks phone numbers with networks.
type Numbers struct {
	Store       *store.Store
	Connections *connection.Manager
}

// Check returns whether who has an account on the network of a reference. It
// asks the network when there is no answer of the last [NumberTTL]. A reference
// over its rate is a [payload.Error] with [payload.CodeRateLimited].
func (c *Numbers) Check(ctx context.Context, row *store.Reference, who provider.Address) (payload.Number, error) {
	if who.LID != "" && who.Phone == "" {
		var err error
		if who, err = c.phoneOf(ctx, row.ID, who); err != nil {
			return payload.Number{}, err
		}
	}
	sess, err := c.Connections.Reach(ctx, row)
	if err != nil {
		return payload.Number{}, err
	}
	checker, ok := sess.(provider.NumberChecker)
	if !ok {
		return payload.Number{}, &payload.Error{
			Code: payload.CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " cannot look up numbers.",
		}
	}
	kept, err := c.checked(ctx, row, who, checker)
	if err != nil {
		return payload.Number{}, err
	}
	return kept.view(cmp.Or(who.Phone, store.BareID(who.ChatID))), nil
}

// Kept returns the answers that are stored about a number of a reference.
func Kept(ctx context.Context, q database.Reader, ref provider.ReferenceID, number string) ([]payload.Number, error) {
	var rows []numberRow
	err := q.SelectContext(ctx, &rows, `SELECT answer, chat_id, created_us FROM messaging_number
		WHERE reference = $1 AND number = $2`, ref, number)
	if err != nil {
		return nil, fmt.Errorf("reading a number: %w", err)
	}
	out := make([]payload.Number, len(rows))
	for i := range rows {
		out[i] = rows[i].view(store.BareID(number))
	}
	return out, nil
}

// phoneOf is the address of a person with a hidden id whose phone number is
// known.
func (c *Numbers) phoneOf(ctx context.Context, ref provider.ReferenceID, who provider.Address) (provider.Address, error) {
	chat, err := c.Store.ChatByAddress(ctx, c.Store.DB, ref, who)
	if err != nil && !errors.Is(err, payload.ErrNotFound) {
		return who, err
	}
	if err != nil || chat.Phone == "" {
		return who, &payload.Invalid{Field: "phone", Message: "is a hidden id (LID) whose phone number is unknown"}
	}
	return chat.Address(), nil
}

// checked reads what is known of a number, and asks the network when nothing is.
func (c *Numbers) checked(ctx context.Context, row *store.Reference, who provider.Address, checker provider.NumberChecker) (*numberRow, error) {
	kept, db := &numberRow{}, c.Store.DB
	err := db.GetContext(ctx, kept, `SELECT answer, chat_id, created_us FROM messaging_number
		WHERE reference = $1 AND number = $2 AND answer <> $3 AND created_us > $4`,
		row.ID, who.ChatID, numberUnknown, database.Micros(c.Store.Now().Add(-NumberTTL)))
	if err == nil {
		return kept, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading a number: %w", err)
	}
	if err := refusal.CheckUsable(row); err != nil {
		return nil, err
	}
	if err := db.InTx(ctx, func(tx *database.Tx) error { return c.takeShare(ctx, tx, row.ID, who) }); err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	answer, err := checker.CheckNumber(asking, who)
	if err != nil {
		return nil, refusal.OfCall(ctx, err)
	}
	kept = &numberRow{Answer: numberUnknown, ChatID: cmp.Or(text.Sanitize(answer.Chat.ChatID), who.ChatID), CreatedUS: database.Micros(c.Store.Now())}
	switch {
	case answer.Exists == nil:
	case *answer.Exists:
		kept.Answer = numberExists
	default:
		kept.Answer = numberAbsent
	}
	return kept, db.InTx(context.WithoutCancel(ctx), func(tx *database.Tx) error { return writeNumber(ctx, tx, row.ID, who, kept) })
}

// takeShare takes a lookup from the rate of a reference. It refuses when none
// is left.
func (c *Numbers) takeShare(ctx context.Context, tx *database.Tx, ref provider.ReferenceID, who provider.Address) error {
	if c.Store.DB.Dialect == database.Postgres { // others who count wait, maybe for another reference
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1, $2)`, numbersLock, int32(ref)); err != nil {
			return fmt.Errorf("locking the numbers of a line: %w", err)
		}
	}
	now := c.Store.Now()
	var times []int64
	err := tx.SelectContext(ctx, &times, `SELECT created_us FROM messaging_number WHERE reference = $1 AND created_us > $2
		ORDER BY created_us DESC LIMIT $3`, ref, database.Micros(now.Add(-numberLookupWindow)), maxNumberLookups)
	if err != nil {
		return fmt.Errorf("counting the numbers of a line: %w", err)
	}
	if len(times) == maxNumberLookups {
		return &payload.Error{
			Code: payload.CodeRateLimited, Message: fmt.Sprintf("A reference looks up at most %d new numbers per minute.", maxNumberLookups),
			After: database.Time(times[maxNumberLookups-1]).Add(numberLookupWindow).Sub(now),
		}
	}
	return writeNumber(ctx, tx, ref, who, &numberRow{Answer: numberUnknown, ChatID: who.ChatID, CreatedUS: database.Micros(now)})
}

// numbersLock is the first key of the locks of takeShare.
const numbersLock = 0x6e756d62

func writeNumber(ctx context.Context, tx *database.Tx, ref provider.ReferenceID, who provider.Address, n *numberRow) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO messaging_number (reference, number, answer, chat_id, created_us) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (reference, number) DO UPDATE SET answer = excluded.answer, chat_id = excluded.chat_id, created_us = excluded.created_us`,
		ref, who.ChatID, n.Answer, n.ChatID, n.CreatedUS)
	if err != nil {
		return fmt.Errorf("storing a number: %w", err)
	}
	return nil
}
