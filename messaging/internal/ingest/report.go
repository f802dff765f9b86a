package ingest

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/provider"
)

// reportKey identifies a report of a reference.
type reportKey struct {
	Reference provider.ReferenceID `db:"reference"`
	Kind      string               `db:"kind"`
	ID        string               `db:"raw_id"`
}

const (
	insertRaw     = `INSERT INTO messaging_raw (reference, kind, raw_id, body, created_us)`
	insertRawTail = ` ON CONFLICT DO NOTHING RETURNING reference, kind, raw_id`
)

var rawTypes = []string{"BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT"}

// storeReports stores what is no message and no status, and finds out which of
// it is new: nothing follows from a repeat.
func storeReports(ctx context.Context, u *store.Batch, b *inboundBatch) error {
	first := map[reportKey]int{}
	var rows [][]any
	for i, a := range b.as {
		r := provider.RawOf(a.Event)
		if r == nil {
			continue
		}
		key := reportKey{a.Reference.ID, r.Kind, r.ID}
		if _, twice := first[key]; twice {
			continue
		}
		first[key] = i
		body := string(r.Body)
		if understood(a.Event) {
			body = ""
		}
		rows = append(rows, []any{key.Reference, key.Kind, key.ID, body, database.Micros(u.Now)})
	}
	added, err := store.InsertNew[reportKey](ctx, u, insertRaw, rawTypes, rows, insertRawTail)
	if err != nil {
		return fmt.Errorf("storing reports: %w", err)
	}
	for _, key := range added {
		b.isNew[first[key]] = true
	}
	return nil
}

// understood says whether nothing more is to be had from a report than what
// becomes of it: then only its id is kept, to know a repeat.
func understood(e provider.Event) bool {
	switch e := e.(type) {
	case *provider.Call:
		return true
	case *provider.ContactChange:
		return e.What != provider.ContactIdentity && e.What != provider.ContactLinked
	}
	return false
}

// reportName is what a report is counted as.
func reportName(e provider.Event) string {
	switch e := e.(type) {
	case *provider.Call:
		return "call"
	case *provider.ContactChange:
		return "contact"
	case *provider.GroupChange:
		return "group"
	case *provider.Handover:
		return "handover"
	case *provider.TemplateChange:
		return "template"
	case *provider.Health:
		return "health"
	case *provider.HistoryProgress:
		return "history"
	default:
		return "raw:" + provider.RawOf(e).Kind
	}
}

// applyReport does what follows from a report that is new.
func applyReport(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e provider.Event) error {
	switch e := e.(type) {
	case *provider.Call:
		called(u, l, e)
	case *provider.ContactChange:
		return contactChanged(ctx, u, l, e)
	case *provider.GroupChange:
		return groupChanged(ctx, u, l, e)
	case *provider.Handover:
		return handedOver(ctx, u, l, e)
	case *provider.TemplateChange:
		return template.ApplyChange(ctx, u, l, e)
	case *provider.Health:
		return session.HealthChanged(ctx, u, l, e)
	case *provider.HistoryProgress:
		if e.Percent >= 100 {
			u.Publish(l.Account, l.ID, "resync", map[string]any{"reference": l.ID})
		}
	}
	return nil
}
