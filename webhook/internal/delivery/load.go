package delivery

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

// Job is what an attempt needs to know.
type Job struct {
	Event  *Event
	Target *Target
	Seq    int64
	Fence  int64 // the claim under which it is done

	Body      string      // what is sent: set by [Formats]
	Formatted http.Header // of the endpoint's format

	Traceparent string // of the attempt; "": it is not traced
}

// Event is a row of webhook_event, as far as attempts and the log need it.
type Event struct {
	Number            int64
	ID                string
	At                int64
	Type              string
	ChatID, MessageID string
	Headers           string
	Body              string

	Extra http.Header // of Headers
}

const eventColumns = `number, id, at_us, type, chat_id, message_id, headers, body`

// Target is an endpoint with its secrets opened.
type Target struct {
	Endpoint

	Opened        []Header // its headers
	SigningSecret string   // the current one
	Key           []byte   // of it

	url    *url.URL
	sent   http.Header // the headers, as they are sent
	keys   []*signer   // of the current secret, then of the retired one
	sets   *sync.Pool  // of headerSet
	names  *headerNames
	sealed error // why the secrets do not open here
}

// Subject is what a partition knows of a delivery: the event's number, written so
// that the order of the text is that of the numbers, and for a replay its old
// place in the key, which the partition's own count must not replace.
func Subject(event int64) string { return fmt.Sprintf("%016x", event) }

// ReplaySubject is the subject of a replay.
func ReplaySubject(event, seq int64) string { return Subject(event) + "/" + strconv.FormatInt(seq, 10) }

// ParseSubject reads a subject. The sequence is that of the job unless it is a
// replay.
func ParseSubject(s string, jobSeq int64) (event, seq int64) {
	number, place, replay := strings.Cut(s, "/")
	event, _ = strconv.ParseInt(number, 16, 64) // written by Subject
	if n, err := strconv.ParseInt(place, 10, 64); replay && err == nil {
		return event, n
	}
	return event, jobSeq
}

// Load reads the events and endpoints of items. A part that is gone leaves a
// nil in the job.
func (d *Sender) Load(ctx context.Context, items []*queue.Job) error {
	events, endpoints := map[int64]*Event{}, map[string]*Target{}
	for _, it := range items {
		number, seq := ParseSubject(it.Subject, it.Seq)
		events[number], endpoints[it.Subscriber] = nil, nil
		it.Data = &Job{Seq: seq, Fence: it.Fence}
	}
	if err := d.LoadEvents(ctx, events); err != nil {
		return fmt.Errorf("loading events: %w", err)
	}
	if err := d.loadTargets(ctx, endpoints); err != nil {
		return fmt.Errorf("loading endpoints: %w", err)
	}
	for _, it := range items {
		number, _ := ParseSubject(it.Subject, it.Seq)
		j := it.Data.(*Job)
		j.Event, j.Target = events[number], endpoints[it.Subscriber]
	}
	return nil
}

// eventsText is the statement that reads events.
func (d *Sender) eventsText(numbers []int64) (string, []any) {
	where, args := d.DB.Dialect.InNumbers("number", 1, numbers)
	return `SELECT ` + eventColumns + ` FROM webhook_event WHERE ` + where, args
}

// LoadEvents reads the events that are the keys of a map into it.
func (d *Sender) LoadEvents(ctx context.Context, byNumber map[int64]*Event) error {
	text, args := d.eventsText(slices.Sorted(maps.Keys(byNumber)))
	rows, err := d.DB.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	known := map[string]http.Header{}
	for rows.Next() {
		e := &Event{}
		if err := rows.Scan(&e.Number, &e.ID, &e.At, &e.Type, &e.ChatID, &e.MessageID, &e.Headers, &e.Body); err != nil {
			return err
		}
		if _, ok := known[e.Headers]; !ok { // they are few, and many events have the same
			known[e.Headers] = e.ExtraHeaders()
		}
		e.Extra = known[e.Headers]
		byNumber[e.Number] = e
	}
	return rows.Err()
}

// targetsText is the statement that reads endpoints.
func (d *Sender) targetsText(ids []any) (string, []any) {
	where, args := d.DB.Dialect.In("id", 1, ids)
	return `SELECT ` + EndpointColumns + ` FROM webhook_endpoint WHERE ` + where, args
}

func (d *Sender) loadTargets(ctx context.Context, byID map[string]*Target) error {
	var rows []Endpoint
	text, args := d.targetsText(keysOf(byID))
	err := d.DB.SelectContext(ctx, &rows, text, args...)
	if err != nil {
		return err
	}
	for i := range rows {
		t, err := d.Target(&rows[i])
		if err != nil { // which must not hold back the others
			d.Log.ErrorContext(ctx, "an endpoint cannot be used", "error", err)
			t = &Target{Endpoint: rows[i], sealed: err}
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
	byID map[string]*Target
}

// maxTargets bounds the cache; beyond it, it starts again.
const maxTargets = 4096

// Target opens the secrets of a row.
func (d *Sender) Target(row *Endpoint) (*Target, error) {
	t := &Target{Endpoint: *row, names: d.headerNames()}
	d.targets.mu.Lock()
	old := d.targets.byID[row.ID]
	d.targets.mu.Unlock()
	if old != nil && old.Revision == row.Revision {
		t.url, t.Opened, t.sent, t.sets, t.SigningSecret, t.Key, t.keys = old.url, old.Opened, old.sent, old.sets, old.SigningSecret, old.Key, old.keys
		return t, nil
	}
	if err := d.open(t); err != nil {
		return nil, err
	}
	d.targets.mu.Lock()
	defer d.targets.mu.Unlock()
	if d.targets.byID == nil || len(d.targets.byID) >= maxTargets {
		d.targets.byID = map[string]*Target{}
	}
	d.targets.byID[row.ID] = t
	return t, nil
}

func (d *Sender) open(t *Target) (err error) {
	if err := d.Sealer.OpenHeaders(&t.Endpoint, &t.Opened); err != nil {
		return err
	}
	t.sent, t.sets = make(http.Header, len(t.Opened)), &sync.Pool{}
	for _, c := range t.Opened {
		t.sent.Add(c.Key, c.Value)
	}
	if t.url, err = url.Parse(t.URL); err != nil {
		t.url = nil // no owner could have stored it
	}
	for i, sealed := range []string{t.Secret, t.OldSecret} {
		if sealed == "" {
			continue
		}
		secret, err := d.Sealer.OpenSecret(&t.Endpoint, sealed)
		if err != nil {
			return err
		}
		key, err := ParseSecret(secret)
		if err != nil {
			return fmt.Errorf("endpoint %s: %w", t.ID, err)
		}
		if i == 0 {
			t.SigningSecret, t.Key = secret, key
		}
		t.keys = append(t.keys, newSigner(key))
	}
	return nil
}

// signers are the keys that sign at a moment: both during a rotation.
func (t *Target) signers(now time.Time) []*signer {
	if len(t.keys) > 1 && database.Micros(now) >= t.OldUntil {
		return t.keys[:1]
	}
	return t.keys
}

// ExtraHeaders are the headers of the event itself.
func (e *Event) ExtraHeaders() http.Header {
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
