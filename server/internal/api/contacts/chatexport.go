package contacts

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/api/chats"
	"github.com/trunklinehq/trunkline/server/internal/api/webhooks"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// Exported is what is held on a contact. Its lists of calls, messages and deliveries
// are written as they are read.
type Exported struct {
	Reference   provider.ReferenceID        `json:"reference"`
	ExportedAt  messaging.UnixTime          `json:"exportedAt"`
	Identity    messaging.Identity          `json:"identity"`
	IDs         []string                    `json:"ids" nullable:"false" doc:"All ids of the contact, current and former."`
	Chat        *messaging.Chat             `json:"chat" doc:"null if the contact has no chat: it wrote in groups only, or its number was looked up."`
	Calls       []messaging.ExportedCall    `json:"calls" nullable:"false"`
	Numbers     []messaging.Number          `json:"numbers" nullable:"false" doc:"Results of looking up its phone number."`
	Reports     []messaging.ExportedReport  `json:"reports" nullable:"false" doc:"Other reports of the network about the contact."`
	DeadLetters []messaging.ExportedReport  `json:"deadLetters" nullable:"false" doc:"Reports about the contact that could not be processed."`
	Messages    []messaging.ExportedMessage `json:"messages" nullable:"false" doc:"Messages of the chat, oldest first, then messages that the contact wrote in groups."`
	Deliveries  []exportedDelivery          `json:"deliveries" nullable:"false" doc:"Webhook deliveries about the contact."`
}

// exportedHead is what an [Exported] has before its calls.
type exportedHead struct {
	Reference  provider.ReferenceID `json:"reference"`
	ExportedAt messaging.UnixTime   `json:"exportedAt"`
	Identity   messaging.Identity   `json:"identity"`
	IDs        []string             `json:"ids"`
	Chat       *messaging.Chat      `json:"chat"`
}

// exportedLists is what an [Exported] has between its calls and its messages.
type exportedLists struct {
	Numbers     []messaging.Number         `json:"numbers"`
	Reports     []messaging.ExportedReport `json:"reports"`
	DeadLetters []messaging.ExportedReport `json:"deadLetters"`
}

// exportedDelivery is a delivery with what was in it.
type exportedDelivery struct {
	Delivery webhooks.Delivery `json:"delivery"`
	Body     json.RawMessage   `json:"body,omitempty"`
}

func (a *API) exportChat(ctx context.Context, c httpapi.Call, in *chats.ChatQuery) (*huma.StreamResponse, error) {
	e, err := a.Messaging.For(c.Account).Export(ctx, in.Reference, in.ChatID)
	if err != nil {
		return nil, httpapi.InQuery(err)
	}
	record := audit.Entry{Action: audit.ChatExport, Reference: int64(in.Reference)}
	if e.Chat != nil {
		record.ObjectID = e.Chat.ID
	}
	if err := a.Audit.Record(ctx, record); err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "application/json")
		hc.SetHeader("Content-Disposition", `attachment; filename="contact.json"`)
		hc.SetStatus(http.StatusOK)
		if httpapi.RequestOf(ctx).Head {
			return
		}
		w := exporter{s: a, c: c, ref: in.Reference, out: bufio.NewWriterSize(httpapi.StreamWriter{Context: hc}, 32<<10), e: e}
		if err := w.write(ctx); err != nil {
			if ctx.Err() == nil {
				a.Log.WarnContext(ctx, "exporting a contact", slog.Any("error", err))
			}
			panic(http.ErrAbortHandler) // half of it must not look like all of it
		}
	}}, nil
}

// exporter writes an [Exported].
type exporter struct {
	s   *API
	c   httpapi.Call
	ref provider.ReferenceID
	out *bufio.Writer
	e   *messaging.Export
	n   int // items of the list that is being written
}

func (w *exporter) write(ctx context.Context) error {
	head, err := json.Marshal(exportedHead{
		Reference: w.ref, ExportedAt: messaging.UnixTime{Time: w.s.Now()}, Identity: w.e.Identity, IDs: w.e.IDs, Chat: w.e.Chat,
	})
	if err != nil {
		return err
	}
	lists, err := json.Marshal(exportedLists{w.e.Numbers, w.e.Reports, w.e.DeadLetters})
	if err != nil {
		return err
	}
	_, _ = w.out.Write(head[:len(head)-1])
	_, _ = io.WriteString(w.out, `,"calls":[`)
	if err := items(w, w.e.Calls(ctx)); err != nil {
		return err
	}
	_, _ = io.WriteString(w.out, `],`)
	_, _ = w.out.Write(lists[1 : len(lists)-1])
	_, _ = io.WriteString(w.out, `,"messages":[`)
	if err := items(w, w.e.Messages(ctx)); err != nil {
		return err
	}
	_, _ = io.WriteString(w.out, `],"deliveries":[`)
	w.n = 0
	err = w.deliveries(ctx, webhook.DeliveryFilter{ChatIDs: w.e.IDs})
	for part := range slices.Chunk(w.e.MessageIDs(), 200) {
		if err == nil {
			err = w.deliveries(ctx, webhook.DeliveryFilter{MessageIDs: part})
		}
	}
	if err != nil {
		return err
	}
	_, _ = io.WriteString(w.out, "]}\n")
	return w.out.Flush() // a write that failed before fails this one
}

// items writes all of a list.
func items[T any](w *exporter, list iter.Seq2[T, error]) error {
	w.n = 0
	for v, err := range list {
		if err == nil {
			err = w.item(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// item writes one of a list.
func (w *exporter) item(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if w.n++; w.n > 1 {
		_ = w.out.WriteByte(',')
	}
	_, err = w.out.Write(b)
	return err
}

// deliveries writes those that a filter chooses.
func (w *exporter) deliveries(ctx context.Context, f webhook.DeliveryFilter) error {
	hooks := w.s.Webhooks.For(w.c.Account)
	for f.Scope, f.Limit = view.WebhookScope(w.ref), 200; ; {
		p, err := hooks.Deliveries(ctx, f)
		if err != nil {
			return err
		}
		bodies, err := hooks.Bodies(ctx, p.Items)
		if err != nil {
			return err
		}
		for _, d := range p.Items {
			if err := w.item(exportedDelivery{webhooks.DeliveryOf(d), bodies[d.ID]}); err != nil {
				return err
			}
		}
		if f.Cursor = p.Next; p.Next == "" {
			return nil
		}
	}
}
