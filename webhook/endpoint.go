package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Mask stands for a header value wherever an endpoint is shown. Given back in
// a change it means the value that is there.
const Mask = "••••"

// Header is sent with every delivery of an endpoint.
type Header struct{ Key, Value string }

// State says how an endpoint fares.
type State string

// The states of an endpoint.
const (
	StateOK       State = "ok"
	StatePaused   State = "paused"   // it is down: everything waits, and it is probed
	StateDisabled State = "disabled" // by its owner, by a 410, or because it was down for too long
)

// Endpoint is where the events of a scope are delivered.
type Endpoint struct {
	ID, Scope, URL       string
	Headers              []Header // values are [Mask]
	Events, Include      []string
	Format               string // [OwnFormat], or a name of [Options].Formats
	Enabled              bool
	State                State
	LastError            string // "" after a success
	CreatedAt, UpdatedAt time.Time

	// Secret signs deliveries ("whsec_…"). It is only set where it was just
	// made: for a new endpoint and after a rotation.
	Secret string
}

const endpointColumns = `id, account, scope, url, headers, secret, old_secret, old_until_us, events, include,
	enabled, revision, pauses, down_us, last_error, created_us, updated_us, format`

const endpointWidth = 18

type endpointRow struct {
	ID, Account, Scope, URL string
	Headers, Secret         string
	OldSecret               string `db:"old_secret"`
	OldUntil                int64  `db:"old_until_us"`
	Events, Include         string
	Enabled                 bool
	Revision, Pauses        int64
	Down                    int64  `db:"down_us"`
	LastError               string `db:"last_error"`
	Created                 int64  `db:"created_us"`
	Updated                 int64  `db:"updated_us"`
	Format                  string
}

func (r *endpointRow) values() []any {
	return []any{
		r.ID, r.Account, r.Scope, r.URL, r.Headers, r.Secret, r.OldSecret, r.OldUntil, r.Events, r.Include,
		r.Enabled, r.Revision, r.Pauses, r.Down, r.LastError, r.Created, r.Updated, r.Format,
	}
}

func (r *endpointRow) state() State {
	switch {
	case !r.Enabled:
		return StateDisabled
	case r.Pauses > 0:
		return StatePaused
	}
	return StateOK
}

// onlyEndpoint begins an audience that is one endpoint; its id follows.
const onlyEndpoint = "@"

// wants says whether the endpoint gets events of this type and audience.
func (r *endpointRow) wants(eventType, audience string) bool {
	if id, only := strings.CutPrefix(audience, onlyEndpoint); only {
		return id == r.ID
	}
	if !inList(r.Events, eventType) || audience == "" {
		return inList(r.Events, eventType)
	}
	part, without := strings.CutPrefix(audience, "!")
	return inList(r.Include, part) != without
}

// list and unlist convert the comma lists of the table.
func list(names []string) string { return strings.Join(names, ",") }

func unlist(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, ",")
}

func inList(commas, name string) bool {
	return strings.Contains(","+commas+",", ","+name+",")
}

// public is the row as its owner may see it.
func (d *Dispatcher) public(r *endpointRow) (Endpoint, error) {
	headers, err := d.openHeaders(r)
	if err != nil {
		return Endpoint{}, err
	}
	for i := range headers {
		headers[i].Value = Mask
	}
	return Endpoint{
		ID: r.ID, Scope: r.Scope, URL: r.URL, Headers: headers, Events: unlist(r.Events), Include: unlist(r.Include), Format: r.Format,
		Enabled: r.Enabled, State: r.state(), LastError: r.LastError,
		CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated),
	}, nil
}

func (d *Dispatcher) sealHeaders(r *endpointRow, headers []Header) error {
	b, err := json.Marshal(headers)
	if err != nil {
		return fmt.Errorf("encoding headers: %w", err)
	}
	r.Headers = d.keys.Seal(sealedAs(r.ID, "headers"), b)
	return nil
}

func (d *Dispatcher) openHeaders(r *endpointRow) ([]Header, error) {
	headers := []Header{}
	b, err := d.keys.Open(sealedAs(r.ID, "headers"), r.Headers)
	if err != nil {
		return nil, fmt.Errorf("opening headers of endpoint %s: %w", r.ID, err)
	}
	if err := json.Unmarshal(b, &headers); err != nil {
		return nil, fmt.Errorf("decoding headers of endpoint %s: %w", r.ID, err)
	}
	return headers, nil
}

// openSecret opens a signing secret, the current or the retired one: a
// rotation moves it from column to column as it is.
func (d *Dispatcher) openSecret(r *endpointRow, sealed string) (string, error) {
	b, err := d.keys.Open(sealedAs(r.ID, "secret"), sealed)
	if err != nil {
		return "", fmt.Errorf("opening secret of endpoint %s: %w", r.ID, err)
	}
	return string(b), nil
}

func (d *Dispatcher) sealSecret(r *endpointRow, secret string) {
	r.Secret = d.keys.Seal(sealedAs(r.ID, "secret"), []byte(secret))
}

func sealedAs(id, column string) string { return "webhook_endpoint:" + id + ":" + column }
