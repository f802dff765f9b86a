package memory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Erasure selects what to erase.
type Erasure struct {
	Reference int64
	ChatIDs   []string // all current and former ids of the chat; nil: all chats of the reference
	// MessageIDs are messages that the contact wrote in groups. The answers to them
	// are erased, too. Ignored without ChatIDs.
	MessageIDs []string
	Before     time.Time // later turns stay; zero: none stays
}

const (
	// chunk is the number of names in a statement, and of rows that one deletes.
	chunk = 500
	// maxRun is how long a run may remember; the longest waits are shorter.
	maxRun        = 100 * 24 * time.Hour
	pruneInterval = time.Hour
)

// Erase removes the turns of chats, and the summaries that may cover them. It works
// in small durable steps, and may be called again after an error or a crash.
func (a *Account) Erase(ctx context.Context, e Erasure) error {
	if err := a.eraseSummaries(ctx, e); err != nil {
		return err
	}
	before := int64(math.MaxInt64)
	if !e.Before.IsZero() {
		before = database.Micros(e.Before)
	}
	const where = `account = $1 AND reference = $2 AND at_us <= $3`
	args := []any{a.id, e.Reference, before}
	if e.ChatIDs == nil {
		return a.s.remove(ctx, where, args...)
	}
	for part := range slices.Chunk(e.ChatIDs, chunk) {
		in, values := a.s.db.Dialect.In("chat_id", 4, anyOf(part))
		if err := a.s.remove(ctx, where+` AND `+in, slices.Concat(args, values)...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(e.MessageIDs, chunk) {
		in, values := a.s.db.Dialect.In("message_id", 4, anyOf(part))
		if err := a.s.remove(ctx, where+` AND message_id <> '' AND `+in, slices.Concat(args, values)...); err != nil {
			return err
		}
	}
	return nil
}

// eraseSummaries removes the summaries that may cover erased turns. A summary of a
// group covers everyone who wrote there.
func (a *Account) eraseSummaries(ctx context.Context, e Erasure) error {
	groups := map[string]bool{}
	for part := range slices.Chunk(e.MessageIDs, chunk) {
		in, values := a.s.db.Dialect.In("message_id", 3, anyOf(part))
		var chats []string
		err := a.s.db.SelectContext(ctx, &chats, `SELECT DISTINCT chat_id FROM memory_turn WHERE account = $1 AND reference = $2 AND `+in,
			append([]any{a.id, e.Reference}, values...)...)
		if err != nil {
			return fmt.Errorf("memory: looking for what was said in groups: %w", err)
		}
		for _, c := range chats {
			groups[c] = true
		}
	}
	for last := int64(0); ; {
		var rows []turnRow
		err := a.s.db.SelectContext(ctx, &rows, `SELECT seq, covers FROM memory_turn WHERE account = $1 AND covers <> '' AND seq > $2 ORDER BY seq LIMIT $3`,
			a.id, last, chunk)
		if err != nil {
			return fmt.Errorf("memory: looking for summaries: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		last = rows[len(rows)-1].Seq
		if err := a.eraseAmong(ctx, rows, e, groups); err != nil {
			return err
		}
	}
}

// eraseAmong removes those of some summaries that may cover erased turns.
func (a *Account) eraseAmong(ctx context.Context, rows []turnRow, e Erasure, groups map[string]bool) error {
	var gone []int64
	for _, r := range rows {
		covers, err := readCovers(r.Covers)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(covers, func(c Chat) bool {
			return c.Reference == e.Reference && (e.ChatIDs == nil || slices.Contains(e.ChatIDs, c.ID) || groups[c.ID])
		}) {
			gone = append(gone, r.Seq)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	in, values := a.s.db.Dialect.InNumbers("seq", 1, gone)
	err := a.s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(context.WithoutCancel(ctx), `DELETE FROM memory_turn WHERE `+in, values...)
		return err
	})
	if err != nil {
		return fmt.Errorf("memory: erasing summaries: %w", err)
	}
	return nil
}

// EndRunTx deletes, when tx commits, what only a run remembers that has ended.
func (s *Service) EndRunTx(ctx context.Context, on Tx, run string) error {
	tx, err := s.db.Join(on)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM memory_turn WHERE run = $1 AND scope = $2`, run, ScopeRun.rank()); err != nil {
		return fmt.Errorf("memory: forgetting a run: %w", err)
	}
	return nil
}

// DeleteAll removes everything of the account. It works in small durable steps, and
// may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	return a.s.remove(ctx, `account = $1`, a.id)
}

// Run deletes turns older than the retention until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	return periodic.Run(ctx, pruneInterval, nil, s.opts.Logger, "forgetting old conversations failed", s.Prune)
}

// Prune deletes turns older than the retention, and turns of runs that must have
// ended long ago. [Service.Run] calls it regularly.
func (s *Service) Prune(ctx context.Context) error {
	now := s.opts.Now()
	if err := s.remove(ctx, `at_us < $1 AND scope = 1`, database.Micros(now.Add(-maxRun))); err != nil {
		return err
	}
	if s.opts.Retention == 0 {
		return nil
	}
	return s.remove(ctx, `at_us < $1`, database.Micros(now.Add(-s.opts.Retention)))
}

// remove deletes the turns that match a condition, in small steps.
func (s *Service) remove(ctx context.Context, where string, args ...any) error {
	err := s.db.InSteps(ctx, fmt.Sprintf(`DELETE FROM memory_turn WHERE seq IN (SELECT seq FROM memory_turn WHERE %s LIMIT %d)`, where, chunk), args...)
	if err != nil {
		return fmt.Errorf("memory: removing turns: %w", err)
	}
	return nil
}

func anyOf(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}
