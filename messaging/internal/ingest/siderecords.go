package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// sideRecords are rows that belong to no chat: statuses of messages that are not
// known yet, what is not interpreted, and what cannot be read.
type sideRecords struct{ earlies, raws, bads [][]any }

func (s *sideRecords) addEarlyStatus(ref provider.ReferenceID, e *provider.StatusChange, now time.Time) {
	if e.MessageID == "" {
		return // of a message of ours that was deleted
	}
	var why provider.Failure
	if e.Error != nil {
		why = *e.Error
	}
	s.earlies = append(s.earlies, []any{
		ref, e.MessageID, int(e.Status), why.Code, why.Message, why.Advice, database.Micros(e.At), database.Micros(e.WindowUntil), database.Micros(now),
	})
}

func (s *sideRecords) addRaw(ref provider.ReferenceID, e *provider.Raw, now time.Time) {
	s.raws = append(s.raws, []any{ref, e.Kind, e.ID, string(e.Body), database.Micros(now)})
}

// addUnknown keeps what the network gave of a message that this version does not
// know, and returns the kind under which.
func (s *sideRecords) addUnknown(ref provider.ReferenceID, m *provider.Message, now time.Time) (kind string) {
	u, ok := m.Content.(provider.Unknown)
	if !ok || u.Body == nil {
		return ""
	}
	kind = RawKind(&u)
	s.addRaw(ref, &provider.Raw{ID: m.ID, Kind: kind, Body: u.Body}, now)
	return kind
}

// RawKind is the kind of the report of a message that is not known.
func RawKind(u *provider.Unknown) string {
	return text.Truncate("message:"+u.Kind, sanitize.MaxKindLength)
}

func (s *sideRecords) addBad(a Event, now time.Time) {
	row := []any{a.Reference.ID, store.NewID(), sanitize.Digest(a.Bad.Body), a.Bad.Reason, string(a.Bad.Body)}
	s.bads = append(s.bads, append(row, a.Part.NetworkID, a.Part.Group, string(a.Part.Body), database.Micros(now)))
}

func (s *sideRecords) write(ctx context.Context, u *store.Batch) error {
	for _, t := range []struct {
		what, into string
		types      []string
		rows       [][]any
	}{
		{
			"early statuses", `messaging_early_status (reference, message_id, status, error_code, error_message, error_advice, at_us, window_us, created_us)`,
			[]string{"BIGINT", "TEXT", "INTEGER", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT"},
			s.earlies,
		},
		{"uninterpreted events", `messaging_raw (reference, kind, raw_id, body, created_us)`, []string{"BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT"}, s.raws},
		{
			"dead letters", `messaging_dead_letter (reference, letter_id, digest, reason, body, network_id, group_id, part, created_us)`,
			[]string{"BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT"},
			s.bads,
		},
	} {
		if err := u.Insert(ctx, `INSERT INTO `+t.into, t.types, t.rows, ` ON CONFLICT DO NOTHING`); err != nil {
			return fmt.Errorf("storing %s: %w", t.what, err)
		}
	}
	return nil
}
