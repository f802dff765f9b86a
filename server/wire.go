package server

import (
	"context"
	"net/http"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/messenger"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// connect makes the services and ties them to each other: what happens in one
// follows in another, in the same transaction.
func (s *Server) connect(ctx context.Context) (err error) {
	c := s.cfg
	s.echo = &webhook.Echo{}
	s.Webhooks, err = webhook.New(ctx, c.DB, &webhook.Options{
		Secrets: c.secrets(), Allow: c.WebhookAllow, Echo: s.echo, Formats: s.hookFormats(), Retention: c.DeliveryRetention, Exclusive: c.Exclusive,
		Sink: toStream{s}, Observer: s.webhookMetrics(), Trace: s.tracing.Hook(), Logger: c.Logger, Now: c.ownClock,
	})
	if err != nil {
		return err
	}
	if c.Media != nil {
		if s.media, err = media.New(c.Media, &media.Options{
			Secrets: c.secrets(), NotFound: http.HandlerFunc(middleware.NotFound), Logger: c.Logger, NoPrograms: c.noPrograms, ProgramTime: c.programTime,
		}); err != nil {
			return err
		}
	}
	s.providers = append([]provider.Provider{
		sandbox.New(),
		cloud.New(&cloud.Options{GraphURL: c.GraphURL, AppSecret: string(c.MetaAppSecret), VerifyToken: string(c.MetaVerifyToken), Logger: c.Logger, Now: c.Now}),
		messenger.New(&messenger.Options{GraphURL: c.GraphURL, AppSecret: string(c.MetaAppSecret), VerifyToken: string(c.MetaVerifyToken), Logger: c.Logger, Now: c.Now}),
	}, c.Providers...)
	services := toServices{toWebhooks{s.Webhooks, s}, toFlows{s}}
	s.Messaging, err = messaging.New(ctx, c.DB, &messaging.Options{
		Providers: s.providers, Media: s.media, Allow: c.WebhookAllow, Secrets: c.secrets(), Sinks: []messaging.Sink{services}, Erasers: []messaging.Eraser{services, toAudit{s}, toUsage{s}, toMemory{s}}, Retention: c.MessageRetention,
		Exclusive: c.Exclusive, Observer: s.messagingMetrics(), Admit: s.admit, Trace: s.tracing.Hook(), Logger: c.Logger, Now: c.Now,
	})
	return err
}

// hooks is the service of webhooks for the caller.
func (s *Server) hooks(c httpapi.Call) *webhook.Account { return s.Webhooks.For(c.Account) }

// toWebhooks makes webhook events of what happens to messages and sessions.
type toWebhooks struct {
	*webhook.Dispatcher
	s *Server
}

func (t toWebhooks) eventsTx(ctx context.Context, tx *sqlx.Tx, evs []messaging.Event, to *audience) error {
	out := make([]webhook.Deferred, len(evs))
	for i, ev := range evs {
		scope := view.WebhookScope(ev.Reference)
		out[i].Event = webhook.Event{
			ID: ev.ID, Account: ev.Account, Scope: scope, Type: string(ev.Type), Key: ev.Key, At: ev.At,
			ChatID: ev.ChatID, MessageID: ev.MessageID, Body: ev.Payload, Traceparent: ev.Traceparent,
			Headers: map[string]string{"X-Trunkline-Reference": scope},
		}
	}
	return t.publishTx(ctx, tx, evs, out, to)
}

// erase erases what webhooks were told of a contact.
func (t toWebhooks) erase(ctx context.Context, e messaging.Erased) error {
	return t.For(e.Account).Erase(ctx, webhook.Erasure{
		Scope: view.WebhookScope(e.Reference), ChatIDs: e.ChatIDs, MessageIDs: e.MessageIDs, Before: e.Before,
	})
}
