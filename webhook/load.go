package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// job is what an attempt needs to know.
type job struct {
	ev  *eventRow
	ep  *target
	seq int64

	fence int64 // the claim under which it is done

	body      string      // what is sent: set by write
	formatted http.Header // of the endpoint's format

	traceparent string // of the attempt; "": it is not traced
}

type eventRow struct {
	Number            int64
	ID                string
	At                int64
	Type              string
	ChatID, MessageID string
	Headers           string
	Body              string

	extra http.Header // of Headers
}

const eventColumns = `number, id, at_us, type, chat_id, message_id, headers, body`

// target is an endpoint with its secrets opened.
type target struct {
	endpointRow
	url     *url.URL
	headers []Header
	sent    http.Header // headers, as they are sent
	secret  string
	key     []byte    // of secret
	keys    []*signer // the current secret, then the retired one
	sets    *sync.Pool
	sealed  error // what is above does not open here
}

// subject is what a partition knows of a delivery: the event's number, written so
// that the order of the text is that of the numbers, and for a replay its old
// place in the key, which the partition's own count must not replace.
func subject(event int64) string { return fmt.Sprintf("%016x", event) }

func replaySubject(event, seq int64) string { return subject(event) + "/" + strconv.FormatInt(seq, 10) }

func parseSubject(s string, jobSeq int64) (event, seq int64) {
	number, place, replay := strings.Cut(s, "/")
	event, _ = strconv.ParseInt(number, 16, 64) // written by subject
	if n, err := strconv.ParseInt(place, 10, 64); replay && err == nil {
		return event, n
	}
	return event, jobSeq
}

// load reads the events and endpoints of items. A part that is gone leaves a
// nil in the job.
func (d *Dispatcher) load(ctx context.Context, items []*queue.Job) error {
	events, endpoints := map[int64]*eventRow{}, map[string]*target{}
	for _, it := range items {
		number, seq := parseSubject(it.Subject, it.Seq)
		events[number], endpoints[it.Subscriber] = nil, nil
		it.Data = &job{seq: seq, fence: it.Fence}
	}
	if err := d.loadEvents(ctx, events); err != nil {
		return fmt.Errorf("loading events: %w", err)
	}
	if err := d.loadTargets(ctx, endpoints); err != nil {
		return fmt.Errorf("loading endpoints: %w", err)
	}
	for _, it := range items {
		number, _ := parseSubject(it.Subject, it.Seq)
		j := it.Data.(*job)
		j.ev, j.ep = events[number], endpoints[it.Subscriber]
	}
	return nil
}

// eventsText is the statement that reads events.
func (d *Dispatcher) eventsText(numbers []int64) (string, []any) {
	where, args := d.db.Dialect.InNumbers("number", 1, numbers)
	return `SELECT ` + eventColumns + ` FROM webhook_event WHERE ` + where, args
}

func (d *Dispatcher) loadEvents(ctx context.Context, byNumber map[int64]*eventRow) error {
	text, args := d.eventsText(slices.Sorted(maps.Keys(byNumber)))
	rows, err := d.db.QueryPrepared(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	known := map[string]http.Header{}
	for rows.Next() {
		e := &eventRow{}
		if err := rows.Scan(&e.Number, &e.ID, &e.At, &e.Type, &e.ChatID, &e.MessageID, &e.Headers, &e.Body); err != nil {
			return err
		}
		if _, ok := known[e.Headers]; !ok { // they are few, and many events have the same
			known[e.Headers] = e.extraHeaders()
		}
		e.extra = known[e.Headers]
		byNumber[e.Number] = e
	}
	return rows.Err()
}

// targetsText is the statement that reads endpoints.
func (d *Dispatcher) targetsText(ids []any) (string, []any) {
	where, args := d.db.Dialect.In("id", 1, ids)
	return `SELECT ` + endpointColumns + ` FROM webhook_endpoint WHERE ` + where, args
}

func (d *Dispatcher) loadTargets(ctx context.Context, byID map[string]*target) error {
	var rows []endpointRow
	text, args := d.targetsText(keysOf(byID))
	err := d.db.SelectPrepared(ctx, &rows, text, args...)
	if err != nil {
		return err
	}
	for i := range rows {
		t, err := d.target(&rows[i])
		if err != nil { // which must not hold back the others
			d.opts.Logger.ErrorContext(ctx, "an endpoint cannot be used", "error", err)
			t = &target{endpointRow: rows[i], sealed: err}
		}
		byID[rows[i].ID] = t
	}
	return nil
}

func keysOf[V any](m map[string]V) []any {
	out := make([]any, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

// targetCache keeps opened secrets for as long as their row is unchanged.
type targetCache struct {
	mu   sync.Mutex
	byID map[string]*target
}

// maxTargets bounds the cache; beyond it, it starts again.
const maxTargets = 4096

// target opens the secrets of a row.
func (d *Dispatcher) target(row *endpointRow) (*target, error) {
	t := &target{endpointRow: *row}
	d.targets.mu.Lock()
	old := d.targets.byID[row.ID]
	d.targets.mu.Unlock()
	if old != nil && old.Revision == row.Revision {
		t.url, t.headers, t.sent, t.sets, t.secret, t.key, t.keys = old.url, old.headers, old.sent, old.sets, old.secret, old.key, old.keys
		return t, nil
	}
	if err := d.open(t); err != nil {
		return nil, err
	}
	d.targets.mu.Lock()
	defer d.targets.mu.Unlock()
	if d.targets.byID == nil || len(d.targets.byID) >= maxTargets {
		d.targets.byID = map[string]*target{}
	}
	d.targets.byID[row.ID] = t
	return t, nil
}

func (d *Dispatcher) open(t *target) (err error) {
	if t.headers, err = d.openHeaders(&t.endpointRow); err != nil {
		return err
	}
	t.sent, t.sets = make(http.Header, len(t.headers)), &sync.Pool{}
	for _, c := range t.headers {
		t.sent.Add(c.Key, c.Value)
	}
	if t.url, err = url.Parse(t.URL); err != nil {
		t.url = nil // not an endpoint's owner could have stored it
	}
	for i, sealed := range []string{t.Secret, t.OldSecret} {
		if sealed == "" {
			continue
		}
		secret, err := d.openSecret(&t.endpointRow, sealed)
		if err != nil {
			return err
		}
		key, err := parseSecret(secret)
		if err != nil {
			return fmt.Errorf("endpoint %s: %w", t.ID, err)
		}
		if i == 0 {
			t.secret, t.key = secret, key
		}
		t.keys = append(t.keys, newSigner(key))
	}
	return nil
}

// signers are the keys that sign at a moment: both during a rotation.
func (t *target) signers(now time.Time) []*signer {
	if len(t.keys) > 1 && database.Micros(now) >= t.OldUntil {
		return t.keys[:1]
	}
	return t.keys
}

// loaded is the event as load reads it.
func (e *Event) loaded() *eventRow {
	row := &eventRow{
		ID: e.ID, At: database.Micros(e.At), Type: e.Type,
		ChatID: e.ChatID, MessageID: e.MessageID, Headers: e.headers(), Body: string(e.Body),
	}
	row.extra = row.extraHeaders()
	return row
}

// extraHeaders are the headers of the event itself.
func (e *eventRow) extraHeaders() http.Header {
	if e.Headers == "" {
		return nil
	}
	var m map[string]string
	_ = json.Unmarshal([]byte(e.Headers), &m) // written by row
	h := make(http.Header, len(m))
	for k, v := range m {
		h.Set(k, v)
	}
	return h
}
