package messaging

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// numberTTL is how long an answer about a number is good for.
	numberTTL = 24 * time.Hour
	// maxNumberLookups is how many numbers a reference asks its network for within
	// numberLookupWindow. Networks that are asked for many take that for spam.
	maxNumberLookups   = 20
	numberLookupWindow = time.Minute
)

// numberRow is an answer as its table has it.
type numberRow struct {
	Answer    int    `db:"answer"`
	ChatID    string `db:"chat_id"`
	CreatedUS int64  `db:"created_us"`
}

const (
	numberAbsent = iota
	numberExists
	numberUnknown
)

// CheckNumber asks the network whether a phone number has an account there. An
// answer is kept for a day. A reference asks for twenty numbers a minute; beyond
// that it returns an [*Error] with [CodeRateLimited].
func (a *Account) CheckNumber(ctx context.Context, ref provider.ReferenceID, phone string) (Number, error) {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return Number{}, err
	}
	who, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, stripPunctuation(phone))
	switch {
	case err != nil:
		return Number{}, refusal.Renamed(err, "phone")
	case who.Group:
		return Number{}, &Invalid{Field: "phone", Message: "is the id of a group"}
	case who.LID != "" && who.Phone == "":
		if who, err = a.s.phoneOf(ctx, row.ID, who); err != nil {
			return Number{}, err
		}
	}
	sess, err := a.s.connections.Reach(ctx, row)
	if err != nil {
		return Number{}, err
	}
	checker, ok := sess.(provider.NumberChecker)
	if !ok {
		return Number{}, &Error{Code: CodeUnsupported, Message: "A line of type " + string(row.Kind) + " cannot look numbers up."}
	}
	kept, err := a.s.checked(ctx, row, who, checker)
	if err != nil {
		return Number{}, err
	}
	return kept.view(cmp.Or(who.Phone, store.BareID(who.ChatID))), nil
}

// phoneOf is the address of a person with a hidden id whose phone number is
// known.
func (s *Service) phoneOf(ctx context.Context, ref provider.ReferenceID, who provider.Address) (provider.Address, error) {
	c, err := s.store.ChatByAddress(ctx, s.db, ref, who)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return who, err
	}
	if err != nil || c.Phone == "" {
		return who, &Invalid{Field: "phone", Message: "is a hidden id (LID) whose phone number is not known"}
	}
	return c.Address(), nil
}

func (n *numberRow) view(phone string) Number {
	out := Number{Phone: phone, ChatID: n.ChatID}
	if n.Answer != numberUnknown {
		out.Exists = new(n.Answer == numberExists)
	}
	return out
}

// stripPunctuation drops what people write between the digits of a number.
func stripPunctuation(s string) string {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune("+ -().", r) {
			return -1
		}
		return r
	}, strings.TrimSpace(s))
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return s
	}
	return digits
}

// checked is what is known of a number, which is asked for when nothing is.
func (s *Service) checked(ctx context.Context, row *store.Reference, who provider.Address, checker provider.NumberChecker) (*numberRow, error) {
	kept := &numberRow{}
	err := s.db.GetContext(ctx, kept, `SELECT answer, chat_id, created_us FROM messaging_number
		WHERE reference = $1 AND number = $2 AND answer <> $3 AND created_us > $4`,
		row.ID, who.ChatID, numberUnknown, database.Micros(s.now().Add(-numberTTL)))
	if err == nil {
		return kept, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading a number: %w", err)
	}
	if err := refusal.CheckUsable(row); err != nil {
		return nil, err
	}
	if err := s.db.InTx(ctx, func(tx *sqlx.Tx) error { return s.mayAsk(ctx, tx, row.ID, who) }); err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	answer, err := checker.CheckNumber(asking, who)
	if err != nil {
		return nil, refusal.OfCall(ctx, err)
	}
	kept = &numberRow{Answer: numberUnknown, ChatID: cmp.Or(store.Sanitize(answer.Chat.ChatID), who.ChatID), CreatedUS: database.Micros(s.now())}
	switch {
	case answer.Exists == nil:
	case *answer.Exists:
		kept.Answer = numberExists
	default:
		kept.Answer = numberAbsent
	}
	return kept, s.db.InTx(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error { return noteNumber(ctx, tx, row.ID, who, kept) })
}

// mayAsk takes a share in the rate of a reference, or refuses.
func (s *Service) mayAsk(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, who provider.Address) error {
	if s.db.Dialect == database.Postgres { // others who count wait, maybe for another reference
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1, $2)`, numbersLock, int32(ref)); err != nil {
			return fmt.Errorf("locking the numbers of a line: %w", err)
		}
	}
	var times []int64
	err := tx.SelectContext(ctx, &times, `SELECT created_us FROM messaging_number WHERE reference = $1 AND created_us > $2
		ORDER BY created_us DESC LIMIT $3`, ref, database.Micros(s.now().Add(-numberLookupWindow)), maxNumberLookups)
	if err != nil {
		return fmt.Errorf("counting the numbers of a line: %w", err)
	}
	if len(times) == maxNumberLookups {
		return &Error{
			Code: CodeRateLimited, Message: fmt.Sprintf("A line looks up at most %d new numbers a minute.", maxNumberLookups),
			After: database.Time(times[maxNumberLookups-1]).Add(numberLookupWindow).Sub(s.now()),
		}
	}
	return noteNumber(ctx, tx, ref, who, &numberRow{Answer: numberUnknown, ChatID: who.ChatID, CreatedUS: database.Micros(s.now())})
}

// numbersLock is the first key of the locks of mayAsk.
const numbersLock = 0x6e756d62

func noteNumber(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, who provider.Address, n *numberRow) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO messaging_number (reference, number, answer, chat_id, created_us) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (reference, number) DO UPDATE SET answer = excluded.answer, chat_id = excluded.chat_id, created_us = excluded.created_us`,
		ref, who.ChatID, n.Answer, n.ChatID, n.CreatedUS)
	if err != nil {
		return fmt.Errorf("storing a number: %w", err)
	}
	return nil
}
