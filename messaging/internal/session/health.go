package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// NoReason stands for the words of a network that has none.
const NoReason = "The network gave no reason."

// Issue is the latest news of a kind and level about a reference's health.
type Issue struct {
	Kind    string               `db:"kind"`
	Level   provider.HealthLevel `db:"level"`
	Code    string               `db:"code"`
	Message string               `db:"message"`
	AtUS    int64                `db:"at_us"`
}

// Report is the issue as users see it.
func (a *Issue) Report() payload.HealthReport {
	return payload.HealthReport{Kind: a.Kind, Level: levelNames[a.Level], Message: a.Message, At: payload.TimeOf(a.AtUS)}
}

// healthIssueOf is what a network's news mean; those without a word mean nothing.
func healthIssueOf(h *provider.Health, nowUS int64) (Issue, bool) {
	a := Issue{
		Kind: text.Truncate(text.Sanitize(h.Kind), sanitize.MaxKindLength), Level: h.Level, Code: text.Sanitize(string(h.Code)), AtUS: cmp.Or(database.Micros(h.At), nowUS),
	}
	if h.Level > provider.HealthGood {
		a.Code = cmp.Or(a.Code, "unknown")
	}
	var words []string
	for _, w := range []string{h.State, h.Detail} {
		if w != "" {
			words = append(words, w)
		}
	}
	if h.Error != nil && h.Error.Message != "" {
		words = []string{h.Error.Message}
	}
	if h.Limit != "" {
		words = append(words, "limit "+h.Limit)
	}
	a.Message = cmp.Or(text.Sanitize(strings.Join(words, ": ")), NoReason)
	return a, h.Level > provider.HealthNews || len(words) > 0
}

// Issues are what a network's news mean.
func Issues(hs []provider.Health, nowUS int64) []Issue {
	var out []Issue
	for i := range hs {
		if a, ok := healthIssueOf(&hs[i], nowUS); ok {
			out = append(out, a)
		}
	}
	return out
}

// Worst is what ails a reference, the latest of the worst; nil when nothing does.
// Of one kind, what is good ends what was before.
func Worst(all []Issue) *Issue {
	good := map[string]int64{}
	for _, a := range all {
		if a.Level == provider.HealthGood {
			good[a.Kind] = max(good[a.Kind], a.AtUS)
		}
	}
	var out *Issue
	for i := range all {
		a := &all[i]
		since, ended := good[a.Kind]
		if a.Level <= provider.HealthGood || ended && a.AtUS <= since {
			continue
		}
		if out == nil || a.Level > out.Level || a.Level == out.Level && a.AtUS > out.AtUS {
			out = a
		}
	}
	return out
}

const upsertHealthIssues = ` ON CONFLICT (reference, kind, level) DO UPDATE SET code = excluded.code, message = excluded.message,
	at_us = excluded.at_us WHERE excluded.at_us >= messaging_health.at_us`

// WriteIssues stores the latest news about a reference's health.
func WriteIssues(ctx context.Context, u *store.Batch, id provider.ReferenceID, all []Issue) error {
	for _, a := range all { // few, and maybe two of one kind
		err := u.Insert(ctx, `INSERT INTO messaging_health (reference, kind, level, code, message, at_us)`,
			[]string{"BIGINT", "TEXT", "INTEGER", "TEXT", "TEXT", "BIGINT"},
			[][]any{{id, a.Kind, int64(a.Level), a.Code, a.Message, a.AtUS}}, upsertHealthIssues)
		if err != nil {
			return fmt.Errorf("storing a line's health: %w", err)
		}
	}
	return nil
}

func worstHealthIssue(ctx context.Context, u *store.Batch, id provider.ReferenceID) (*Issue, error) {
	var all []Issue
	err := u.Tx.SelectContext(ctx, &all, `SELECT kind, level, code, message, at_us FROM messaging_health WHERE reference = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("reading a line's health: %w", err)
	}
	return Worst(all), nil
}

// HealthChanged lets news change the session of the reference that it is about.
func HealthChanged(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e *provider.Health) error {
	now := database.Micros(u.Now)
	news, ok := healthIssueOf(e, now)
	if !ok {
		return nil
	}
	r, err := store.LockReference(ctx, u, l.ID)
	if err != nil || !r.IsNumber(e.Phone) {
		return err
	}
	was, err := worstHealthIssue(ctx, u, l.ID)
	if err != nil {
		return err
	}
	if err := WriteIssues(ctx, u, l.ID, []Issue{news}); err != nil {
		return err
	}
	is, err := worstHealthIssue(ctx, u, l.ID)
	if err != nil {
		return err
	}
	before := *r
	ApplyIssue(r, was, is, now)
	return Save(ctx, u, r, before)
}

// ApplyIssue turns what ails a reference into its session's error, and into its state
// where nothing can be sent any more. An error of another cause stays with a
// reference that has failed.
func ApplyIssue(r *store.Reference, was, is *Issue, nowUS int64) {
	ours := was != nil && r.ErrorCode == was.Code && r.ErrorMessage == was.Message
	alive := r.State != payload.StateFailed && r.State != payload.StateLoggedOut && r.State != payload.StateStopped
	stopped := r.State == payload.StateFailed && ours && was.Level == provider.HealthStopped
	switch {
	case !ours && r.ErrorCode != "" && !alive, !ours && is == nil:
		return
	case stopped && (is == nil || is.Level < provider.HealthStopped):
		MarkConnected(r, nowUS)
	case alive && is != nil && is.Level == provider.HealthStopped:
		r.State, r.ConnectedUS = payload.StateFailed, 0
	}
	r.ErrorCode, r.ErrorMessage, r.ErrorUS, r.ErrorRetryUS = "", "", 0, 0
	if is != nil {
		r.ErrorCode, r.ErrorMessage, r.ErrorUS = is.Code, is.Message, is.AtUS
	}
}

// levelNames are the levels as users see them.
var levelNames = map[provider.HealthLevel]string{
	provider.HealthNews: "news", provider.HealthGood: "good", provider.HealthWarning: "warning", provider.HealthStopped: "stopped",
}

// ReplaceHealth forgets what was known of a reference's health for what the network
// says when it is asked.
func ReplaceHealth(ctx context.Context, s *store.Store, id provider.ReferenceID, hs []provider.Health) error {
	return s.DB.InTx(ctx, func(tx *database.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM messaging_health WHERE reference = $1`, id); err != nil {
			return fmt.Errorf("forgetting a line's health: %w", err)
		}
		u := s.Begin(tx)
		return WriteIssues(ctx, u, id, Issues(hs, database.Micros(u.Now)))
	})
}

// Reports are the latest news of each kind about a reference, by kind.
func Reports(ctx context.Context, s *store.Store, id provider.ReferenceID) ([]payload.HealthReport, error) {
	var all []Issue
	err := s.DB.SelectContext(ctx, &all, `SELECT kind, level, code, message, at_us FROM messaging_health WHERE reference = $1
		ORDER BY kind, at_us DESC, level DESC`, id)
	if err != nil {
		return nil, fmt.Errorf("reading a line's health: %w", err)
	}
	var out []payload.HealthReport
	for _, a := range all {
		if len(out) == 0 || out[len(out)-1].Kind != a.Kind {
			out = append(out, a.Report())
		}
	}
	return out, nil
}
