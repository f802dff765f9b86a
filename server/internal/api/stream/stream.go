package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

const (
	// heartbeat keeps proxies from closing a quiet stream.
	heartbeat = 15 * time.Second
	// lookAgain is how often a stream makes sure that its reader still may: a
	// change of rights has to hold within five seconds, two of which it may
	// take to be seen.
	lookAgain = 3 * time.Second
)

// API answers those who follow what happens.
type API struct {
	Authenticate func(c huma.Context) (auth.Caller, error)
	Log          *slog.Logger
	Messaging    *messaging.Service
	Stopping     chan struct{}
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Messaging_Follow", On: httpapi.Listing("query.reference"), Method: http.MethodGet, Path: "/chats/stream",
		Summary: "Stream events as server-sent events, in the order of their commits",
		About: "Events are `message`, `status`, `session` and `chat`, each with a JSON record as data; `chat` with `{reference, chatId, mergedFrom}` " +
			"when two ids turn out to belong to one contact; `delivery` for each attempt to deliver a webhook, with " +
			"`{reference, endpointId, deliveryId, event, chatId, messageId, state, statusCode, attempt, at}`; and `resync` when the position is older than the " +
			"stored 24 hours, older messages were imported, or a contact was erased: fetch again what you show. After an interruption, `Last-Event-ID` (or `after`) continues at that event.",
		Errors: []int{http.StatusNotFound},
	}, auth.ChatsRead, a.stream)
}

type follow struct {
	Reference   provider.ReferenceID `query:"reference" minimum:"1" doc:"Only events of this reference."`
	After       string               `query:"after" maxLength:"200" doc:"Id of the last event that you received."`
	LastEventID string               `header:"Last-Event-ID" maxLength:"200" doc:"Same as after. Takes precedence over it."`
}

func (a *API) stream(ctx context.Context, c httpapi.Call, in *follow) (*huma.StreamResponse, error) {
	after := in.After
	if in.LastEventID != "" {
		after = in.LastEventID
	}
	watch, end := context.WithCancel(ctx)
	acc := a.Messaging.For(c.Account)
	feed, err := acc.Changes(watch, in.Reference, after)
	resync := errors.Is(err, messaging.ErrResync)
	if resync {
		feed, err = acc.Changes(watch, in.Reference, "")
	}
	if err != nil {
		end()
		return nil, in.place(err)
	}
	feed.Only(c.Only)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer end()
		a.endWith(watch, end)
		f := follower{s: a, out: hc, feed: feed, of: in.Reference, only: c.Only}
		f.run(watch, resync)
	}}, nil
}

// place says where a bad position stands.
func (in *follow) place(err error) error {
	if bad, ok := errors.AsType[*messaging.Invalid](err); ok && in.LastEventID != "" {
		return httpapi.Invalid("header.Last-Event-ID", bad.Message)
	}
	return httpapi.InQuery(err)
}

// endWith ends a stream when the server begins to stop.
func (a *API) endWith(ctx context.Context, end func()) {
	go func() {
		select {
		case <-a.Stopping:
			end()
		case <-ctx.Done():
		}
	}()
}

// follower is a stream and its reader.
type follower struct {
	s       *API
	out     huma.Context
	feed    *messaging.ChangeStream
	of      provider.ReferenceID // 0: all that he may read
	only    []int64              // see call
	checked time.Time            // when he was last allowed to read
	wrote   time.Time
}

// run writes events until the reader leaves or may not read any more, or the
// server stops. The status is out by then, so an error ends the stream and is
// logged.
func (f *follower) run(ctx context.Context, resync bool) {
	f.out.SetHeader("Content-Type", "text/event-stream")
	f.out.SetHeader("X-Accel-Buffering", "no")
	f.out.SetStatus(http.StatusOK)
	first := fmt.Sprintf(": ready\nid: %s\n\n", f.feed.Position()) // from where to continue, should it break at once
	if resync {
		first = fmt.Sprintf("event: resync\nid: %s\ndata: {}\n\n", f.feed.Position())
	}
	f.checked = time.Now()
	if f.write(first) != nil || httpapi.RequestOf(ctx).Head {
		return // he has left, or wants no body
	}
	for {
		es, err := f.feed.Next(ctx, lookAgain)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.s.Log.WarnContext(ctx, "reading the stream", slog.Any("error", err))
			return
		}
		if !f.allowed(ctx) || f.write(f.text(es)) != nil {
			return
		}
	}
}

// text is what events look like on the wire.
func (f *follower) text(es []messaging.StreamEntry) string {
	if len(es) == 0 && time.Since(f.wrote) >= heartbeat {
		return ": alive\n\n"
	}
	var b strings.Builder
	for _, e := range es {
		if f.only != nil && !slices.Contains(f.only, int64(e.Reference)) {
			continue // it was read before the reader's rights were
		}
		fmt.Fprintf(&b, "event: %s\nid: %s\ndata: %s\n\n", e.Kind, e.ID, e.Data)
	}
	return b.String()
}

// allowed says whether the reader may still read.
func (f *follower) allowed(ctx context.Context) bool {
	if time.Since(f.checked) < lookAgain {
		return true
	}
	f.checked = time.Now()
	caller, err := f.s.Authenticate(f.out)
	if err != nil && !errors.Is(err, auth.ErrToken) {
		f.s.Log.WarnContext(ctx, "checking the reader of a stream", slog.Any("error", err))
	}
	if err != nil {
		return false
	}
	only, all := caller.References(auth.ChatsRead)
	f.only = only
	f.feed.Only(only)
	return all || slices.Contains(only, int64(f.of)) || f.of == 0 && len(only) > 0
}

// write sends text at once. A reader who does not take it in time has left.
func (f *follower) write(text string) error {
	if text == "" {
		return nil
	}
	f.wrote = time.Now()
	_, err := io.WriteString(httpapi.StreamWriter{Context: f.out}, text)
	return err
}
