package messaging

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// healthIssue is the latest news of a kind and level about a reference's health.
type healthIssue struct {
	Kind    string               `db:"kind"`
	Level   provider.HealthLevel `db:"level"`
	Code    string               `db:"code"`
	Message string               `db:"message"`
	AtUS    int64                `db:"at_us"`
}

// healthIssueOf is what a network's news mean; those without a word mean nothing.
func healthIssueOf(h *provider.Health, nowUS int64) (healthIssue, bool) {
	a := healthIssue{
		Kind: sanitize.Truncate(store.Sanitize(h.Kind), sanitize.MaxKindLength), Level: h.Level, Code: store.Sanitize(string(h.Code)), AtUS: cmp.Or(database.Micros(h.At), nowUS),
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
	a.Message = cmp.Or(store.Sanitize(strings.Join(words, ": ")), noReasonText)
	return a, h.Level > provider.HealthNews || len(words) > 0
}

func healthIssues(hs []provider.Health, nowUS int64) []healthIssue {
	var out []healthIssue
	for i := range hs {
		if a, ok := healthIssueOf(&hs[i], nowUS); ok {
			out = append(out, a)
		}
	}
	return out
}

// worst is what ails a reference, the latest of the worst; nil when nothing does.
// Of one kind, what is good ends what was before.
func worst(all []healthIssue) *healthIssue {
	good := map[string]int64{}
	for _, a := range all {
		if a.Level == provider.HealthGood {
			good[a.Kind] = max(good[a.Kind], a.AtUS)
		}
	}
	var out *healthIssue
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

func writeHealthIssues(ctx context.Context, u *store.Batch, id provider.ReferenceID, all []healthIssue) error {
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

func worstHealthIssue(ctx context.Context, u *store.Batch, id provider.ReferenceID) (*healthIssue, error) {
	var all []healthIssue
	err := u.Tx.SelectContext(ctx, &all, `SELECT kind, level, code, message, at_us FROM messaging_health WHERE reference = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("reading a line's health: %w", err)
	}
	return worst(all), nil
}

// healthChanged lets news change the session of the reference that it is about.
func healthChanged(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e *provider.Health) error {
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
	if err := writeHealthIssues(ctx, u, l.ID, []healthIssue{news}); err != nil {
		return err
	}
	is, err := worstHealthIssue(ctx, u, l.ID)
	if err != nil {
		return err
	}
	before := *r
	applyHealthIssue(r, was, is, now)
	return saveSession(ctx, u, r, before)
}

// applyHealthIssue turns what ails a reference into its session's error, and into its state
// where nothing can be sent any more. An error of another cause stays with a
// line that has failed.
func applyHealthIssue(r *store.Reference, was, is *healthIssue, nowUS int64) {
	ours := was != nil && r.ErrorCode == was.Code && r.ErrorMessage == was.Message
	alive := r.State != StateFailed && r.State != StateLoggedOut && r.State != StateStopped
	stopped := r.State == StateFailed && ours && was.Level == provider.HealthStopped
	switch {
	case !ours && r.ErrorCode != "" && !alive, !ours && is == nil:
		return
	case stopped && (is == nil || is.Level < provider.HealthStopped):
		markReferenceConnected(r, nowUS)
	case alive && is != nil && is.Level == provider.HealthStopped:
		r.State, r.ConnectedUS = StateFailed, 0
	}
	r.ErrorCode, r.ErrorMessage, r.ErrorUS, r.ErrorRetryUS = "", "", 0, 0
	if is != nil {
		r.ErrorCode, r.ErrorMessage, r.ErrorUS = is.Code, is.Message, is.AtUS
	}
}

// replaceHealth forgets what was known of a reference's health for what the network
// says when it is asked.
func (s *Service) replaceHealth(ctx context.Context, id provider.ReferenceID, hs []provider.Health) error {
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM messaging_health WHERE reference = $1`, id); err != nil {
			return fmt.Errorf("forgetting a line's health: %w", err)
		}
		u := s.store.Begin(tx)
		return writeHealthIssues(ctx, u, id, healthIssues(hs, database.Micros(u.Now)))
	})
}

// HealthReport is the latest that a network said of one side of a reference's
// health: its quality and limits, the account above it, its credentials.
type HealthReport struct {
	Kind    string   `json:"kind" example:"phone_number" doc:"The network's word for what it is about."`
	Level   string   `json:"level" enum:"news,good,warning,stopped"`
	Message string   `json:"message" example:"GREEN: CONNECTED, STANDARD: limit TIER_10K" doc:"In the network's words."`
	At      UnixTime `json:"at"`
}

var levelNames = map[provider.HealthLevel]string{
	provider.HealthNews: "news", provider.HealthGood: "good", provider.HealthWarning: "warning", provider.HealthStopped: "stopped",
}

// reports are the latest news of each kind about a reference, by kind.
func (s *Service) reports(ctx context.Context, id provider.ReferenceID) ([]HealthReport, error) {
	var all []healthIssue
	err := s.db.SelectContext(ctx, &all, `SELECT kind, level, code, message, at_us FROM messaging_health WHERE reference = $1
		ORDER BY kind, at_us DESC, level DESC`, id)
	if err != nil {
		return nil, fmt.Errorf("reading a line's health: %w", err)
	}
	var out []HealthReport
	for _, a := range all {
		if len(out) == 0 || out[len(out)-1].Kind != a.Kind {
			out = append(out, HealthReport{a.Kind, levelNames[a.Level], a.Message, payload.TimeOf(a.AtUS)})
		}
	}
	return out, nil
}
