package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
)

// heartbeat keeps proxies from closing a quiet stream.
const heartbeat = 15 * time.Second

func (s *Server) streamRoutes(a *api) {
	registerReply(a, operation{
		id: "Messaging_Follow", method: http.MethodGet, path: "/chats/stream",
		summary: "Follow what happens, as server-sent events in the order of the commits",
		about: "Events are `message`, `status`, `session` and `chat`, each with a JSON record as data, and `resync` when the position is older than the " +
			"24 hours that are kept: fetch anew what is shown. After a break, `Last-Event-ID` (or `after`) continues where it ended.",
	}, auth.ChatsRead, s.stream)
}

type follow struct {
	Reference   provider.ReferenceID `query:"reference" minimum:"1" doc:"Only this line."`
	After       string               `query:"after" maxLength:"200" doc:"Id of the last event that was seen."`
	LastEventID string               `header:"Last-Event-ID" maxLength:"200" doc:"The same; it wins."`
}

func (s *Server) stream(ctx context.Context, c call, in *follow) (*huma.StreamResponse, error) {
	after := in.After
	if in.LastEventID != "" {
		after = in.LastEventID
	}
	watch, end := context.WithCancel(ctx)
	acc := s.account(c)
	feed, err := acc.Follow(watch, in.Reference, after)
	resync := errors.Is(err, messaging.ErrResync)
	if resync {
		feed, err = acc.Follow(watch, in.Reference, "")
	}
	if err != nil {
		end()
		return nil, inQuery(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer end()
		s.writeStream(watch, hc, feed, resync)
	}}, nil
}

// writeStream writes events until the client leaves or the server stops. The
// status is out by then, so an error ends the stream and is logged.
func (s *Server) writeStream(ctx context.Context, c huma.Context, feed *messaging.Feed, resync bool) {
	c.SetHeader("Content-Type", "text/event-stream")
	c.SetHeader("Cache-Control", "no-store")
	c.SetHeader("X-Accel-Buffering", "no")
	c.SetStatus(http.StatusOK)
	var b strings.Builder
	if resync {
		fmt.Fprintf(&b, "event: resync\nid: %s\ndata: {}\n\n", feed.Position())
	} else {
		b.WriteString(": ready\n\n")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		if err := sendNow(c, b.String()); err != nil {
			return // the client has left
		}
		b.Reset()
		es, err := feed.Next(ctx, heartbeat)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.WarnContext(ctx, "reading the stream", slog.Any("error", err))
			return
		}
		if len(es) == 0 {
			b.WriteString(": alive\n\n")
		}
		for _, e := range es {
			fmt.Fprintf(&b, "event: %s\nid: %s\ndata: %s\n\n", e.Kind, e.ID, e.Data)
		}
	}
}

// sendNow writes to a stream without waiting for more.
func sendNow(c huma.Context, text string) error {
	w := c.BodyWriter()
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	if rw, ok := w.(http.ResponseWriter); ok {
		return http.NewResponseController(rw).Flush()
	}
	return nil
}
