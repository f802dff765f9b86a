package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// maxEvent bounds an event, in bytes.
const maxEvent = 64 << 20

var errEndless = errors.New("client: an event is larger than 64 MiB")

// jitter is a number below n.
func jitter(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return rand.Int64N(n) //nolint:gosec // spreads requests in time
}

// Event is one of [Messaging.Follow].
type Event struct {
	ID   string          // its position: FollowParams.After continues behind it
	Type string          // message, status, session, chat, delivery or resync; the list is open
	Data json.RawMessage // as the API's document has it for the type
}

// Message is the record of an event of the type message.
func (e Event) Message() (Message, error) { return decoded[Message](e) }

// Session is the record of an event of the type session.
func (e Event) Session() (Session, error) { return decoded[Session](e) }

// Chat is the record of an event of the type chat.
func (e Event) Chat() (Chat, error) { return decoded[Chat](e) }

func decoded[T any](e Event) (out T, err error) {
	if err := json.Unmarshal(e.Data, &out); err != nil {
		return out, fmt.Errorf("client: reading an event %s: %w", e.Type, err)
	}
	return out, nil
}

// FollowParams are what [Messaging.Follow] may be told; nil: nothing.
type FollowParams struct {
	Reference int64  // only this reference; 0: all
	After     string // Event.ID of the last one that was seen; "": begin now
}

// Follow tells what happens, in the order of the commits, until ctx ends or
// the loop is left. A stream that breaks is continued where it ended. An
// [*Error] that no repetition mends, such as a token that is not valid any
// more, is the last thing that is told. It is GET /chats/stream.
func (s *Messaging) Follow(ctx context.Context, p *FollowParams) iter.Seq2[Event, error] {
	var q FollowParams
	if p != nil {
		q = *p
	}
	return func(yield func(Event, error) bool) {
		for broken := 0; ; broken++ {
			err := s.follow(ctx, &q, func(e Event) bool {
				broken = 0
				return yield(e, nil)
			})
			if err == nil || ctx.Err() != nil { // the loop was left
				return
			}
			if hopeless(err) {
				yield(Event{}, err)
				return
			}
			if pause(ctx, s.c.opts.Wait<<min(broken, 6), err) != nil {
				return
			}
		}
	}
}

// hopeless says that a stream would end in the same way again.
func hopeless(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests || errors.Is(err, errEndless)
}

// follow reads one stream. It returns nil when tell returned false.
func (s *Messaging) follow(ctx context.Context, q *FollowParams, publish func(Event) bool) error {
	r := request{id: "Messaging_Follow", method: http.MethodGet, path: "/chats/stream"}
	if q.Reference != 0 {
		r.inQuery("reference", q.Reference)
	}
	if q.After != "" {
		r.inHeader("Last-Event-ID", q.After)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	res, err := s.c.send(ctx, &r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		return refusal(res, body)
	}
	// The server says something every 15 s.
	quiet := time.AfterFunc(time.Minute, end)
	defer quiet.Stop()
	lines := bufio.NewReaderSize(res.Body, 64<<10)
	var e Event
	for {
		line, err := readLine(lines, maxEvent-len(e.Data))
		if err != nil {
			return err
		}
		quiet.Reset(time.Minute)
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n" || line == "\r\n":
			if e.ID != "" {
				q.After = e.ID
			}
			if e.Type != "" && !publish(e) {
				return nil
			}
			e = Event{ID: e.ID}
		case name == "event":
			e.Type = value
		case name == "id":
			e.ID = value
		case name == "data":
			e.Data = append(e.Data, value...)
		}
	}
}

// readLine reads a line of at most so many bytes, and little more.
func readLine(from *bufio.Reader, limit int) (string, error) {
	var line strings.Builder
	for {
		piece, err := from.ReadSlice('\n')
		line.Write(piece)
		switch {
		case line.Len() > limit:
			return "", errEndless
		case err == nil:
			return line.String(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", fmt.Errorf("client: reading the stream: %w", err)
		}
	}
}
