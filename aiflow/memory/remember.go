package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Limits of stored turns.
const (
	maxTurns  = 200      // of a chat, and of a run
	maxResult = 8 << 10  // bytes of a tool's result
	maxTurn   = 64 << 10 // bytes of a turn's texts
)

// Remember stores a turn: the question, calls with their results, and the answer.
// key identifies the turn; a turn with a known key replaces the stored one. Of
// files only the names are stored.
func (a *Account) Remember(ctx context.Context, p Place, key string, said []llm.Message) error {
	return a.s.db.Write(ctx, func(tx *database.Tx) error {
		return a.RememberTx(context.WithoutCancel(ctx), tx, p, key, said)
	})
}

// RememberTx is [Account.Remember] in the caller's transaction.
func (a *Account) RememberTx(ctx context.Context, on Tx, p Place, key string, said []llm.Message) error {
	tx, err := a.s.db.Join(on)
	if err != nil {
		return err
	}
	if p.scope().rank() == 0 || len(said) == 0 {
		return nil
	}
	raw, err := json.Marshal(kept(said))
	if err != nil {
		return fmt.Errorf("memory: writing a turn: %w", err)
	}
	if there, err := a.s.opts.Lock(ctx, tx, a.id, p.Run); err != nil {
		return fmt.Errorf("memory: looking for a run: %w", err)
	} else if !there {
		return nil
	}
	if err := a.insert(ctx, tx, p, key, string(raw), 0, ""); err != nil {
		return fmt.Errorf("memory: storing a turn: %w", err)
	}
	return a.trim(ctx, tx, p)
}

func (a *Account) insert(ctx context.Context, tx *database.Tx, p Place, key, messages string, upTo int64, covers string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO memory_turn (account, scope, run, reference, chat_id, message_id, call_key, messages, up_to, covers, at_us)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (account, call_key) DO UPDATE SET messages = excluded.messages, up_to = excluded.up_to, covers = excluded.covers`,
		a.id, p.scope().rank(), p.Run, p.Chat.Reference, p.Chat.ID, p.Message, key, messages, upTo, covers, database.Micros(a.s.opts.Now()))
	return err
}

// trim removes the oldest turns of a place beyond the limit.
func (a *Account) trim(ctx context.Context, tx *database.Tx, p Place) error {
	const oldest = ` AND seq < (SELECT MIN(seq) FROM (SELECT seq FROM memory_turn WHERE `
	where, args := `run = $1`, []any{p.Run}
	if p.scope() != ScopeRun {
		where, args = `reference = $1 AND chat_id = $2`, []any{p.Chat.Reference, p.Chat.ID}
	}
	q := fmt.Sprintf(`DELETE FROM memory_turn WHERE %s%s%s ORDER BY seq DESC LIMIT %d) newest)`, where, oldest, where, maxTurns)
	if _, err := tx.ExecContext(ctx, q, args...); err != nil {
		return fmt.Errorf("memory: removing old turns: %w", err)
	}
	return nil
}

// kept returns the messages of a turn in the form in which they are stored.
func kept(said []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(said))
	left := maxTurn
	for _, m := range said {
		k := llm.Message{Role: m.Role, Calls: m.Calls}
		for _, p := range m.Parts {
			text := p.Text
			if p.MediaType != "" {
				text = "[" + p.MediaType + " " + p.Name + "]"
			}
			text = head(text, left)
			left -= len(text)
			k.Parts = append(k.Parts, llm.Part{Text: text})
		}
		for _, r := range m.Results {
			r.Content = head(r.Content, min(maxResult, left))
			left -= len(r.Content)
			k.Results = append(k.Results, r)
		}
		out = append(out, k)
	}
	return out
}

// head returns the beginning of a text, with at most limit bytes.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit = max(limit, 0)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
