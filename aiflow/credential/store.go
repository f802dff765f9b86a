package credential

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Kind is the way in which a request carries a credential.
type Kind string

// Kinds of credentials.
const (
	Bearer Kind = "bearer" // Authorization: Bearer <secret>
	Basic  Kind = "basic"  // Authorization: Basic, of username and secret (RFC 7617)
	Header Kind = "header" // <field>: <secret>
	Query  Kind = "query"  // ?<field>=<secret>
)

// NewCredential describes a credential to create.
type NewCredential struct {
	Name     string // for people, 1..200 characters
	Kind     Kind
	Field    string   // name of the header or of the query parameter; only for these kinds
	Username string   // only for the kind basic
	Secret   string   // the token, the password or the key: one line, 1..4096 bytes
	Hosts    []string // allowed hosts: "api.example.org", or with a port; none: all
}

// LogValue keeps the secret out of logs.
func (n NewCredential) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", n.Name), slog.String("kind", string(n.Kind)))
}

// Credential is a credential without its secret.
type Credential struct {
	ID, Name        string
	Kind            Kind
	Field, Username string
	Secret          string   // masked: "••••" and the last four characters, unless the secret is short
	Hosts           []string // never nil; empty: all
	CreatedAt       time.Time
}

// List selects a page of a list.
type List = page.List

// Page is a page of a list.
type Page[T any] = page.Page[T]

type row struct {
	Number                             int64
	ID, Account, Name, Field, Username string
	Kind                               Kind
	Hosts, Secret                      string
	Created                            int64 `db:"created_us"`
}

const columns = `number, id, account, name, kind, field, username, hosts, secret, created_us`

// Create stores a credential. An [*Invalid] names the field that is refused.
func (a *Account) Create(ctx context.Context, n NewCredential) (Credential, error) {
	n, err := n.checked()
	if err != nil {
		return Credential{}, err
	}
	if a.s.keys == nil {
		return Credential{}, &Invalid{Field: "secret", Message: "cannot be stored: the service has no secrets to encrypt it with"}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Credential{}, fmt.Errorf("making an id: %w", err)
	}
	hosts, err := json.Marshal(n.Hosts)
	if err != nil {
		return Credential{}, fmt.Errorf("writing hosts: %w", err)
	}
	r := row{
		ID: id.String(), Account: a.id, Name: n.Name, Kind: n.Kind, Field: n.Field, Username: n.Username,
		Hosts: string(hosts), Secret: a.s.keys.Seal(sealedAs(id.String()), []byte(n.Secret)), Created: database.Micros(a.s.now()),
	}
	err = a.s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO credential_secret (id, account, name, kind, field, username, hosts, secret, created_us)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, r.ID, r.Account, r.Name, r.Kind, r.Field, r.Username, r.Hosts, r.Secret, r.Created)
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{
			Action: audit.CredentialCreate, ObjectID: r.ID, ObjectName: r.Name, Details: map[string]any{"kind": r.Kind, "hosts": n.Hosts},
		})
	})
	if err != nil {
		return Credential{}, fmt.Errorf("storing a credential: %w", err)
	}
	return a.s.view(r), nil
}

// List lists the credentials of the account, the oldest first.
func (a *Account) List(ctx context.Context, l List) (Page[Credential], error) {
	return page.Select(ctx, a.s.db, l, "credentials", func(r row) int64 { return r.Number }, a.s.view,
		`SELECT `+columns+` FROM credential_secret WHERE account = $1 AND number > $2 ORDER BY number LIMIT $3`, a.id)
}

// IDs returns the ids of all credentials of the account, never nil. q reads them:
// the database, or a transaction of the caller.
func (a *Account) IDs(ctx context.Context, q database.Reader) ([]string, error) {
	ids := []string{}
	if err := q.SelectContext(ctx, &ids, `SELECT id FROM credential_secret WHERE account = $1 ORDER BY number`, a.id); err != nil {
		return nil, fmt.Errorf("listing credentials: %w", err)
	}
	return ids, nil
}

// Delete removes a credential, even if flows name it: their requests then fail.
func (a *Account) Delete(ctx context.Context, id string) error {
	if uuid.Validate(id) != nil {
		return ErrNotFound
	}
	err := a.s.db.Write(ctx, func(tx *database.Tx) error {
		var name string
		err := tx.GetContext(ctx, &name, `DELETE FROM credential_secret WHERE id = $1 AND account = $2 RETURNING name`, id, a.id)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.CredentialDelete, ObjectID: id, ObjectName: name})
	})
	if err != nil {
		return fmt.Errorf("deleting a credential: %w", err)
	}
	return nil
}

// DeleteAll removes all credentials of the account.
func (a *Account) DeleteAll(ctx context.Context) error {
	err := a.s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM credential_secret WHERE account = $1`, a.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting credentials: %w", err)
	}
	return nil
}

func (a *Account) row(ctx context.Context, id string) (row, error) {
	var r row
	if uuid.Validate(id) != nil {
		return r, ErrNotFound
	}
	err := a.s.db.GetContext(ctx, &r, `SELECT `+columns+` FROM credential_secret WHERE id = $1 AND account = $2`, id, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("reading a credential: %w", err)
	}
	return r, nil
}

func (s *Service) view(r row) Credential {
	c := Credential{
		ID: r.ID, Name: r.Name, Kind: r.Kind, Field: r.Field, Username: r.Username, Secret: mask,
		Hosts: hostsOf(r.Hosts), CreatedAt: database.Time(r.Created),
	}
	if secret, err := s.open(r); err == nil {
		if text := []rune(secret); len(text) >= 8 {
			c.Secret += string(text[len(text)-4:])
		}
	}
	return c
}
