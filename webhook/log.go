package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// The states of a delivery.
const (
	DeliveryPending   = "pending"          // it has not been tried, or is to be tried again
	DeliveryDelivered = delivery.Delivered // a 2xx took it
	DeliveryFailed    = delivery.Failed    // its endpoint was disabled, or it was a test that did not pass
	DeliveryDead      = delivery.Dead      // all retries are used up
	maxAttemptsShown  = 50                 // of one delivery, the last
	pendingPage       = 200                // items read at first while they are filtered, then twice as many …
	maxPendingPage    = 12_800             // … up to this: each page looks at all that is pending
	maxDeliveries     = 200                // of a page
	deliveriesDefault = 50                 // of a page
	maxFilterIDs      = 1000               // of a filter
)

// Attempt is one try to deliver an event.
type Attempt = delivery.Attempt

// Delivery is an event on its way to an endpoint.
type Delivery struct {
	ID, EndpointID, EventID string
	Event                   string // its type
	ChatID, MessageID       string // "" when the event has none
	Sequence                int64
	State                   string
	Attempts                []Attempt // oldest first; at most the last 50
	NextAttemptAt           time.Time // zero: none is planned, or one is under way
	CreatedAt               time.Time
}

// DeliveryFilter chooses deliveries. What is empty does not matter.
type DeliveryFilter struct {
	Scope                  string // required
	Endpoint, State, Event string
	ChatIDs, MessageIDs    []string // any of these; at most 1,000
	Limit                  int      // at least 1, above 200 it is 200; 0: 50
	Cursor                 string   // Page.Next of the page before; "": the first page
}

// Page is a page of a list.
type Page[T any] = page.Page[T]

// Deliveries lists deliveries: pending ones first, by the time of their event,
// then those that are over, in the order in which that came about; the newest
// first in both.
func (a *Account) Deliveries(ctx context.Context, f DeliveryFilter) (Page[Delivery], error) {
	if err := f.check(a.d.opts.Types); err != nil {
		return Page[Delivery]{}, err
	}
	out, next, err := a.deliveries(ctx, f)
	if err == nil {
		err = a.addAttempts(ctx, out)
	}
	if err != nil {
		return Page[Delivery]{}, fmt.Errorf("listing deliveries: %w", err)
	}
	return Page[Delivery]{Items: out, Next: next}, nil
}

func (f *DeliveryFilter) check(known types) error {
	f.Limit = cmp.Or(f.Limit, deliveriesDefault)
	if f.Limit < 0 {
		return invalid("limit", "must be at least 1")
	}
	f.Limit = min(f.Limit, maxDeliveries)
	if f.Event != "" {
		name, ok := known.find(f.Event)
		if !ok {
			return invalid("event", "%s", known.why())
		}
		f.Event = name
	}
	if len(f.ChatIDs) > maxFilterIDs || len(f.MessageIDs) > maxFilterIDs {
		return invalid("chatId", "has too many ids")
	}
	states := []string{"", DeliveryPending, DeliveryDelivered, DeliveryFailed, DeliveryDead}
	if !slices.Contains(states, f.State) {
		return invalid("state", "must be one of %s", strings.Join(states[1:], ", "))
	}
	return nil
}

// place is where a page begins: within the pending deliveries, or before an
// attempt.
type place struct {
	pending bool
	before  queue.JobArgs
	attempt int64
}

const firstAttempt = int64(1) << 62 // beyond all ids

func (f *DeliveryFilter) place() (place, error) {
	if f.Cursor == "" {
		return place{pending: f.State == "" || f.State == DeliveryPending, attempt: firstAttempt}, nil
	}
	kind, rest, _ := strings.Cut(f.Cursor, ":")
	switch kind {
	case "p":
		subject, subscriber, ok := strings.Cut(rest, ":")
		if ok && subject != "" {
			return place{pending: true, before: queue.JobArgs{Subject: subject, Subscriber: subscriber}, attempt: firstAttempt}, nil
		}
	case "f":
		if n, err := strconv.ParseInt(rest, 10, 64); err == nil && n > 0 {
			return place{attempt: n}, nil
		}
	}
	return place{}, invalid("cursor", "must be a cursor that a list returned")
}

func (a *Account) deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, string, error) {
	at, err := f.place()
	if err != nil {
		return nil, "", err
	}
	out := []Delivery{}
	if at.pending {
		var next string
		if out, next, err = a.pending(ctx, f, at.before); err != nil || next != "" {
			return out, next, err
		}
	}
	if f.State == DeliveryPending {
		return out, "", nil
	}
	out, next, err := a.over(ctx, f, at.attempt, out)
	return latest(out), next, err
}

// latest leaves out what was pending when the partitions were read, and over when
// the log was.
func latest(ds []Delivery) []Delivery {
	last := make(map[string]int, len(ds))
	for i := range ds {
		last[ds[i].ID] = i
	}
	out := ds[:0]
	for i := range ds {
		if last[ds[i].ID] == i {
			out = append(out, ds[i])
		}
	}
	return out
}

// pending reads from the partitions, a page at a time, until the filter let enough
// through.
func (a *Account) pending(ctx context.Context, f DeliveryFilter, before queue.JobArgs) ([]Delivery, string, error) {
	out := []Delivery{}
	endpoints, err := a.endpointIDs(ctx, f)
	if err != nil {
		return nil, "", err
	}
	for page := pendingPage; ; page = min(2*page, maxPendingPage) {
		items, err := a.d.queue.Pending(ctx, endpoints, before, page)
		if err != nil {
			return nil, "", err
		}
		events := map[int64]*delivery.Event{}
		for _, it := range items {
			number, _ := delivery.ParseSubject(it.Subject, 0)
			events[number] = nil
		}
		if len(items) > 0 {
			if err := a.d.sender.LoadEvents(ctx, events); err != nil {
				return nil, "", err
			}
		}
		for i := range items {
			before = items[i].JobArgs
			number, seq := delivery.ParseSubject(items[i].Subject, items[i].Seq)
			if ev := events[number]; ev != nil && f.lets(ev) {
				out = append(out, pendingDelivery(ev, &items[i], seq))
			}
			if len(out) == f.Limit {
				return out, "p:" + before.Subject + ":" + before.Subscriber, nil
			}
		}
		if len(items) < page {
			return out, "", nil
		}
	}
}

func (f *DeliveryFilter) lets(ev *delivery.Event) bool {
	return (len(f.ChatIDs) == 0 || slices.Contains(f.ChatIDs, ev.ChatID)) &&
		(len(f.MessageIDs) == 0 || slices.Contains(f.MessageIDs, ev.MessageID)) && (f.Event == "" || f.Event == ev.Type)
}

func pendingDelivery(ev *delivery.Event, it *queue.Pending, seq int64) Delivery {
	return Delivery{
		ID: ev.DeliveryID(it.Subscriber), EndpointID: it.Subscriber, EventID: ev.ID, Event: ev.Type,
		ChatID: ev.ChatID, MessageID: ev.MessageID, Sequence: seq, State: DeliveryPending, NextAttemptAt: it.Next, CreatedAt: ev.Time(),
	}
}

// endpointIDs are the endpoints that a filter is about.
func (a *Account) endpointIDs(ctx context.Context, f DeliveryFilter) ([]string, error) {
	ids := []string{}
	err := a.d.db.SelectContext(ctx, &ids, `SELECT id FROM webhook_endpoint WHERE account = $1 AND scope = $2 AND ($3 = '' OR id = $3)`,
		a.id, f.Scope, f.Endpoint)
	return ids, err
}

const overColumns = `t.id AS attempt, t.endpoint, t.seq, t.outcome, e.number, e.id, e.at_us AS at, e.type, e.chat_id AS chatid, e.message_id AS messageid`

type overRow struct {
	delivery.Event
	Attempt  int64
	Endpoint string
	Seq      int64
	Outcome  string
}

// over fills the page with deliveries that are over.
func (a *Account) over(ctx context.Context, f DeliveryFilter, before int64, out []Delivery) ([]Delivery, string, error) {
	room := f.Limit - len(out)
	query, args := f.over(a, before, room+1)
	var rows []overRow
	err := a.d.db.SelectContext(ctx, &rows, query, args...)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(rows) > room {
		rows = rows[:room]
		if next = "f:" + strconv.FormatInt(before, 10); room > 0 {
			next = "f:" + strconv.FormatInt(rows[room-1].Attempt, 10)
		}
	}
	for i := range rows {
		r := &rows[i]
		out = append(out, Delivery{
			ID: r.DeliveryID(r.Endpoint), EndpointID: r.Endpoint, EventID: r.ID, Event: r.Type, ChatID: r.ChatID, MessageID: r.MessageID,
			Sequence: r.Seq, State: r.Outcome, CreatedAt: r.Time(),
		})
	}
	return out, next, nil
}

// over is the statement that reads deliveries that are over. It walks through
// the log of the scope, or, where the filter names chats, messages or an outcome that is
// rare, through what has them.
func (f *DeliveryFilter) over(a *Account, before int64, limit int) (string, []any) {
	from, outcome := `webhook_attempt t JOIN webhook_event e ON e.number = t.event`, `t.outcome <> ''`
	if f.State == DeliveryFailed || f.State == DeliveryDead {
		outcome = `t.outcome IN ('failed', 'dead') AND t.outcome <> ''`
	}
	var named strings.Builder
	args := []any{f.Scope, a.id, before}
	for _, is := range []struct{ column, value string }{{`t.endpoint`, f.Endpoint}, {`t.outcome`, f.State}, {`t.type`, f.Event}} {
		if is.value != "" {
			args = append(args, is.value)
			fmt.Fprintf(&named, ` AND %s = $%d`, is.column, len(args))
		}
	}
	for _, in := range []struct {
		column string
		ids    []string
	}{{`e.message_id`, f.MessageIDs}, {`e.chat_id`, f.ChatIDs}} {
		if len(in.ids) == 0 {
			continue
		}
		from = `webhook_event e CROSS JOIN webhook_attempt t` // SQLite begins with the first
		named.WriteString(` AND e.scope = $1 AND ` + in.column + ` <> '' AND ` + in.column + ` IN ` + a.d.db.Dialect.Values(1, len(in.ids), len(args)+1))
		for _, id := range in.ids {
			args = append(args, id)
		}
	}
	return `SELECT ` + overColumns + ` FROM ` + from + ` WHERE e.number = t.event AND t.scope = $1 AND ` + outcome + ` AND e.account = $2 AND t.id < $3` +
		named.String() + fmt.Sprintf(` ORDER BY t.id DESC LIMIT %d`, limit), args
}

// addAttempts fills in what was tried.
func (a *Account) addAttempts(ctx context.Context, ds []Delivery) error {
	if len(ds) == 0 {
		return nil
	}
	type way struct {
		event    int64
		endpoint string
	}
	byWay, numbers := map[way]*Delivery{}, make([]int64, len(ds))
	for i := range ds {
		numbers[i], _ = delivery.NumberOf(ds[i].ID)
		byWay[way{numbers[i], ds[i].EndpointID}] = &ds[i]
	}
	var rows []struct {
		Event    int64
		Endpoint string
		At       int64 `db:"at_us"`
		Status   int
		Duration int64 `db:"duration_us"`
		Error    string
		Response string
		Fence    int64
	}
	where, args := a.d.db.Dialect.InNumbers("event", 1, numbers)
	err := a.d.db.SelectContext(ctx, &rows, `SELECT event, endpoint, at_us, status, duration_us, error, response, fence
		FROM webhook_attempt WHERE `+where+` ORDER BY id`, args...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		d := byWay[way{r.Event, r.Endpoint}]
		if d == nil { // of another endpoint
			continue
		}
		d.Attempts = append(d.Attempts, Attempt{
			At: database.Time(r.At), StatusCode: r.Status, Duration: time.Duration(r.Duration) * time.Microsecond,
			Error: r.Error, Response: r.Response, Fence: r.Fence,
		})
	}
	for i := range ds {
		ds[i].Attempts = ds[i].Attempts[max(0, len(ds[i].Attempts)-maxAttemptsShown):]
	}
	return nil
}

// Bodies returns what deliveries of the account carry, by their ids. What was
// erased, or is no longer stored, is left out.
func (a *Account) Bodies(ctx context.Context, ds []Delivery) (map[string]json.RawMessage, error) {
	byEvent := map[int64][]string{}
	var numbers []int64
	for i := range ds {
		n, ok := delivery.NumberOf(ds[i].ID)
		if !ok {
			continue
		}
		if byEvent[n] == nil {
			numbers = append(numbers, n)
		}
		byEvent[n] = append(byEvent[n], ds[i].ID)
	}
	out := map[string]json.RawMessage{}
	for part := range slices.Chunk(numbers, eraseChunk) {
		var rows []struct {
			Number int64
			Body   []byte
		}
		in, args := a.d.db.Dialect.InNumbers("number", 2, part)
		err := a.d.db.SelectContext(ctx, &rows, `SELECT number, body FROM webhook_event WHERE account = $1 AND body <> '' AND `+in,
			append([]any{a.id}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("reading the bodies of deliveries: %w", err)
		}
		for _, r := range rows {
			for _, id := range byEvent[r.Number] {
				out[id] = r.Body
			}
		}
	}
	return out, nil
}
