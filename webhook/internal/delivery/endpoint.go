package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
)

// Mask replaces a header value that is not shown.
const Mask = "••••"

// Header is sent with every delivery of an endpoint.
type Header struct{ Key, Value string }

// EndpointColumns are the columns of an [Endpoint], in the order of its values.
const EndpointColumns = `id, account, scope, url, headers, secret, old_secret, old_until_us, events, include,
	enabled, revision, pauses, down_us, last_error, created_us, updated_us, format`

// EndpointWidth is the number of [EndpointColumns].
const EndpointWidth = 18

// Endpoint is a row of webhook_endpoint.
type Endpoint struct {
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

// Values are what the columns of r hold.
func (r *Endpoint) Values() []any {
	return []any{
		r.ID, r.Account, r.Scope, r.URL, r.Headers, r.Secret, r.OldSecret, r.OldUntil, r.Events, r.Include,
		r.Enabled, r.Revision, r.Pauses, r.Down, r.LastError, r.Created, r.Updated, r.Format,
	}
}

// OnlyEndpoint begins an audience that is one endpoint; its id follows.
const OnlyEndpoint = "@"

// Wants reports whether the endpoint gets events of this type and audience.
func (r *Endpoint) Wants(eventType, audience string) bool {
	if id, only := strings.CutPrefix(audience, OnlyEndpoint); only {
		return id == r.ID
	}
	if !Asks(r.Events, eventType) || audience == "" {
		return Asks(r.Events, eventType)
	}
	part, without := strings.CutPrefix(audience, "!")
	return InList(r.Include, part) != without
}

// List writes a comma list of the table.
func List(names []string) string { return strings.Join(names, ",") }

// Unlist reads a comma list of the table.
func Unlist(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, ",")
}

// Asks reports whether a comma list of types has one: by its name, by the words that it
// begins with, as in order.*, or by *.
func Asks(commas, eventType string) bool {
	if InList(commas, eventType) || InList(commas, "*") {
		return true
	}
	for i, c := range eventType {
		if c == '.' && InList(commas, eventType[:i]+".*") {
			return true
		}
	}
	return false
}

// InList reports whether a comma list has a name.
func InList(commas, name string) bool {
	return strings.Contains(","+commas+",", ","+name+",")
}

// Sealer seals and opens the headers and secrets of endpoints.
type Sealer struct{ Keys *keyring.Ring }

// SealHeaders puts headers, a slice of keys and values, into r.
func (s Sealer) SealHeaders(r *Endpoint, headers any) error {
	b, err := json.Marshal(headers)
	if err != nil {
		return fmt.Errorf("encoding headers: %w", err)
	}
	r.Headers = s.Keys.Seal(sealedAs(r.ID, "headers"), b)
	return nil
}

// OpenHeaders reads the headers of r into a pointer to such a slice.
func (s Sealer) OpenHeaders(r *Endpoint, into any) error {
	b, err := s.Keys.Open(sealedAs(r.ID, "headers"), r.Headers)
	if err != nil {
		return fmt.Errorf("opening headers of endpoint %s: %w", r.ID, err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("decoding headers of endpoint %s: %w", r.ID, err)
	}
	return nil
}

// SealSecret puts a signing secret into r.
func (s Sealer) SealSecret(r *Endpoint, secret string) {
	r.Secret = s.Keys.Seal(sealedAs(r.ID, "secret"), []byte(secret))
}

// OpenSecret opens a signing secret, the current or the retired one: a
// rotation moves it from column to column as it is.
func (s Sealer) OpenSecret(r *Endpoint, sealed string) (string, error) {
	b, err := s.Keys.Open(sealedAs(r.ID, "secret"), sealed)
	if err != nil {
		return "", fmt.Errorf("opening secret of endpoint %s: %w", r.ID, err)
	}
	return string(b), nil
}

// Reseal seals the columns of r again with the newest key.
func (s Sealer) Reseal(r *Endpoint) error {
	for _, column := range []struct {
		place string
		text  *string
	}{{"headers", &r.Headers}, {"secret", &r.Secret}, {"secret", &r.OldSecret}} {
		if *column.text == "" {
			continue
		}
		clear, err := s.Keys.Open(sealedAs(r.ID, column.place), *column.text)
		if err != nil {
			return fmt.Errorf("opening the %s of endpoint %s: %w", column.place, r.ID, err)
		}
		*column.text = s.Keys.Seal(sealedAs(r.ID, column.place), clear)
	}
	return nil
}

func sealedAs(id, column string) string { return "webhook_endpoint:" + id + ":" + column }

// RecordTx records what was done to an endpoint. Of its URL only the host is
// named: the rest may hold a secret. A scope that is a number is a reference.
func (r *Endpoint) RecordTx(ctx context.Context, tx *database.Tx, action audit.Action, details map[string]any) error {
	reference, _ := strconv.ParseInt(r.Scope, 10, 64) // else there is none
	e := audit.Entry{Action: action, ObjectID: r.ID, Reference: reference, Details: details}
	if u, err := url.Parse(r.URL); err == nil {
		e.ObjectName = u.Host
	}
	return audit.RecordTx(ctx, tx, e)
}
