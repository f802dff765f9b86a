package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/trunklinehq/trunkline/messaging/internal/callback"
	"github.com/trunklinehq/trunkline/messaging/internal/forged"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/provider"
)

// ChatNames is what a search compares.
const ChatNames = chatNames

// What a running service does by the clock, at once.

func (s *Service) EndDoubts(ctx context.Context) error { return s.maintenance.FailUnconfirmed(ctx) }

func (s *Service) ApplyEarlies(ctx context.Context) error {
	return ingest.ApplyOvertakenStatuses(ctx, s.store)
}
func (s *Service) Prune(ctx context.Context) error { return s.maintenance.DeleteExpired(ctx) }

// NoteAck notes that the network of a reference has taken a message.
func (s *Service) NoteAck(id provider.ReferenceID, at time.Time) { s.liveness.Ack(id, at) }

func (s *Service) WriteHealth(ctx context.Context) error { return s.maintenance.WriteHealth(ctx) }

// ParseCursor reads a cursor and writes it again.
func ParseCursor(s string, keys int) (string, error) {
	c, err := page.ParseCursor("cursor", s, keys)
	return c.String(), err
}

// EncodeContent is what is stored of a message to send.
func EncodeContent(c provider.Content) (string, error) { return render.EncodeContent(c, "") }

// FillTemplate holds the components of a send against those of a template.
func FillTemplate(components, format, fill string) (TemplatePreview, error) {
	var call provider.TemplateCall
	if json.Unmarshal([]byte(fill), &call.Components) != nil {
		return TemplatePreview{}, nil
	}
	r := &template.Row{Components: components, Format: format}
	if err := r.Fits(call); err != nil {
		return TemplatePreview{}, err
	}
	return r.Preview(call), nil
}

// ClaimQuery is what looks up the ids that a callback names.
func (s *Service) ClaimQuery(kind provider.Kind, lines, groups []string, limit int) (string, []any) {
	return s.callbacks.ClaimQuery(kind, lines, groups, limit)
}

// ForgetReferences makes a service read references again.
func (s *Service) ForgetReferences() { s.forgetReferences() }

// StepMerge moves what one transaction may of the first merge that is put off.
func (s *Service) StepMerge(ctx context.Context) error {
	var p store.PendingMerge
	if err := s.db.GetContext(ctx, &p, store.PendingMerges+`ORDER BY m.gone LIMIT 1`); err != nil {
		return err
	}
	_, err := s.store.StepMerge(ctx, p, false)
	return err
}

// FinishMerges continues with merges until none is left.
func (s *Service) FinishMerges(ctx context.Context) error {
	for n := 1; n > 0; {
		if err := s.store.MergeChats(ctx); err != nil {
			return err
		}
		if err := s.db.GetContext(ctx, &n, `SELECT count(*) FROM messaging_merge`); err != nil {
			return err
		}
	}
	return nil
}

// OccupyCallbacks makes as many large bodies of strangers wait at a [CallbackHandler] as
// may, until ctx is done.
func OccupyCallbacks(ctx context.Context, h http.Handler) {
	const more = 1 + 16 + 1 // one that is checked, those that wait, and one too many
	busy := make(chan struct{})
	for range more {
		go func() {
			_, err := h.(*callback.Handler).Limiter.Wait(ctx, netip.MustParseAddr("203.0.113.1"), 1<<20, time.Now())
			if errors.Is(err, forged.ErrBusy) {
				close(busy)
			}
		}()
	}
	<-busy
}

// IndexBacklog indexes some of the messages of before there was an index.
func (s *Service) IndexBacklog(ctx context.Context) (done bool, err error) {
	return s.store.IndexBacklog(ctx)
}
