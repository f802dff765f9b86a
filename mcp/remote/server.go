package remote

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Server is a foreign server of an account.
type Server struct {
	ID, Name, URL string
	Credential    string // id of the credential for requests; "": none
	Enabled       bool
	Tools         []Tool    // in the server's order; never nil
	CheckedAt     time.Time // when its tools were last listed; zero: never
	Problem       string    // why the last listing failed; "": it succeeded

	CreatedAt, UpdatedAt time.Time
}

// NewServer describes a server to register.
type NewServer struct {
	Name       string // for flows: letters and digits, single - and _ between them; at most 64
	URL        string // of its endpoint
	Credential string // "": none
}

// Change describes changes of a server. Nil fields stay as they are. A new URL
// means another server: its tools are forgotten.
type Change struct {
	Name, URL, Credential *string
	Enabled               *bool
	// Approve lists approvals of tools and withdrawals of approvals.
	Approve []Approval
}

// Approval approves a tool as it is now, or withdraws its approval.
type Approval struct {
	Name string
	Hash string // of the tool that was reviewed; not needed to withdraw
	// Withdraw withdraws the approval.
	Withdraw bool
}

// List selects a page of a list.
type List = page.List

// serverName excludes "__", which separates a server and its tool.
var serverName = regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`)

const (
	maxName = 64
	maxURL  = 2048
)

type serverRow struct {
	Number                             int64
	ID, Account, Name, URL, Credential string
	Enabled                            bool
	Revision                           int64
	Checked                            int64 `db:"checked_us"`
	Problem                            string
	Created                            int64 `db:"created_us"`
	Updated                            int64 `db:"updated_us"`
}

const serverColumns = `number, id, account, name, url, credential, enabled, revision, checked_us, problem, created_us, updated_us`

func (r serverRow) view(tools []toolRow) Server {
	v := Server{
		ID: r.ID, Name: r.Name, URL: r.URL, Credential: r.Credential, Enabled: r.Enabled, Tools: make([]Tool, len(tools)),
		Problem: r.Problem, CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated),
	}
	if r.Checked > 0 {
		v.CheckedAt = database.Time(r.Checked)
	}
	for i, t := range tools {
		v.Tools[i] = t.view()
	}
	return v
}

func (s *Service) checkName(name string) error {
	if len(name) > maxName || !serverName.MatchString(name) {
		return &Invalid{Field: "name", Message: "must be letters and digits with single - and _ between them, at most 64"}
	}
	if _, own := s.opts.Programs[name]; own {
		return ErrTaken
	}
	return nil
}

func (s *Service) checkURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxURL:
		return &Invalid{Field: "url", Message: "must have at most 2048 characters"}
	case err != nil:
		return &Invalid{Field: "url", Message: "must be a URL that begins with https://"}
	case u.User != nil:
		return &Invalid{Field: "url", Message: "must not have a user or password: use a credential"}
	}
	if err := s.guard.CheckURL(address); err != nil {
		return &Invalid{Field: "url", Message: err.Error()}
	}
	if u.Scheme != "https" && !s.guard.Lists(u) {
		return &Invalid{Field: "url", Message: "must begin with https://, unless --webhook-allow names the host"}
	}
	return nil
}

func checkCredential(id string) error {
	if id != "" && uuid.Validate(id) != nil {
		return &Invalid{Field: "credential", Message: "must be the id of a credential"}
	}
	return nil
}

// Create registers a server. [Account.Refresh] lists its tools. An [*Invalid] names
// the field that is refused. Create does not check that the credential exists.
func (a *Account) Create(ctx context.Context, d NewServer) (Server, error) {
	if err := errors.Join(a.s.checkName(d.Name), a.s.checkURL(d.URL), checkCredential(d.Credential)); err != nil {
		return Server{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Server{}, fmt.Errorf("making an id: %w", err)
	}
	now := database.Micros(a.s.opts.Now())
	r := serverRow{ID: id.String(), Account: a.id, Name: d.Name, URL: d.URL, Credential: d.Credential, Enabled: true, Revision: 1, Created: now, Updated: now}
	err = a.s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO mcp_remote_server (id, account, name, url, credential, enabled, revision, checked_us, problem, created_us, updated_us)
			VALUES ($1, $2, $3, $4, $5, $6, 1, 0, '', $7, $7)`, r.ID, r.Account, r.Name, r.URL, r.Credential, r.Enabled, now)
		if err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.ServerCreate, r, nil)
	})
	if err != nil {
		return Server{}, fmt.Errorf("storing a server: %w", orTaken(err))
	}
	return r.view(nil), nil
}

func orTaken(err error) error {
	if database.IsUnique(err) {
		return ErrTaken
	}
	return err
}

// Server returns a server, or [ErrNotFound].
func (a *Account) Server(ctx context.Context, id string) (Server, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	if err != nil {
		return Server{}, err
	}
	return a.view(ctx, r)
}

func (a *Account) view(ctx context.Context, r serverRow) (Server, error) {
	tools, err := a.s.toolsOf(ctx, a.s.db, r.ID)
	return r.view(tools), err
}

func (a *Account) row(ctx context.Context, q database.Reader, id, lock string) (serverRow, error) {
	var r serverRow
	if uuid.Validate(id) != nil {
		return r, ErrNotFound
	}
	return r, found(q.GetContext(ctx, &r, `SELECT `+serverColumns+` FROM mcp_remote_server WHERE id = $1 AND account = $2`+lock, id, a.id))
}

// named returns the server with a name, or [ErrNotFound].
func (a *Account) named(ctx context.Context, name string) (serverRow, error) {
	var r serverRow
	if !serverName.MatchString(name) {
		return r, ErrNotFound
	}
	return r, found(a.s.db.GetContext(ctx, &r, `SELECT `+serverColumns+` FROM mcp_remote_server WHERE account = $1 AND name = $2`, a.id, name))
}

func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading a server: %w", err)
	}
	return nil
}

// Page is a page of a list.
type Page[T any] = page.Page[T]

// Servers lists the servers of the account, the oldest first.
func (a *Account) Servers(ctx context.Context, l List) (Page[Server], error) {
	rows, err := page.Select(ctx, a.s.db, l, "servers", func(r serverRow) int64 { return r.Number }, func(r serverRow) serverRow { return r },
		`SELECT `+serverColumns+` FROM mcp_remote_server WHERE account = $1 AND number > $2 ORDER BY number LIMIT $3`, a.id)
	if err != nil {
		return Page[Server]{}, err
	}
	return page.Map(rows, func(r serverRow) (Server, error) { return a.view(ctx, r) })
}

// Update changes a server. It returns [ErrChanged] for an approval of a tool that
// has changed since.
func (a *Account) Update(ctx context.Context, id string, c Change) (Server, error) {
	if err := a.s.checkChange(c); err != nil {
		return Server{}, err
	}
	var r serverRow
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if r, err = a.row(ctx, tx, id, a.s.lock()); err != nil {
			return err
		}
		if moved := c.apply(&r); moved {
			if _, err := tx.ExecContext(ctx, `DELETE FROM mcp_remote_tool WHERE server = $1`, id); err != nil {
				return err
			}
			r.Checked, r.Problem = 0, ""
		}
		for _, p := range c.Approve {
			if err := approveTx(ctx, tx, id, p); err != nil {
				return err
			}
		}
		r.Updated = database.Micros(a.s.opts.Now())
		if _, err = tx.ExecContext(ctx, `UPDATE mcp_remote_server SET name = $1, url = $2, credential = $3, enabled = $4, revision = $5, checked_us = $6,
			problem = $7, updated_us = $8 WHERE id = $9`, r.Name, r.URL, r.Credential, r.Enabled, r.Revision, r.Checked, r.Problem, r.Updated, r.ID); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.ServerUpdate, r, c.details())
	})
	if err != nil {
		return Server{}, fmt.Errorf("changing a server: %w", orTaken(err))
	}
	return a.view(ctx, r)
}

func (s *Service) checkChange(c Change) error {
	var errs []error
	if c.Name != nil {
		errs = append(errs, s.checkName(*c.Name))
	}
	if c.URL != nil {
		errs = append(errs, s.checkURL(*c.URL))
	}
	if c.Credential != nil {
		errs = append(errs, checkCredential(*c.Credential))
	}
	for i, p := range c.Approve {
		if !keepable(p.Name) {
			errs = append(errs, &Invalid{Field: fmt.Sprintf("tools[%d].name", i), Message: "must be the name of a tool of this server"})
		}
	}
	return errors.Join(errs...)
}

// apply changes a row. It reports whether the row now means another server.
func (c Change) apply(r *serverRow) (moved bool) {
	if c.Name != nil {
		r.Name = *c.Name
	}
	if c.Enabled != nil {
		r.Enabled = *c.Enabled
	}
	if c.Credential != nil && *c.Credential != r.Credential {
		r.Credential = *c.Credential
		r.Revision++
	}
	if c.URL != nil && *c.URL != r.URL {
		r.URL, moved = *c.URL, true
		r.Revision++
	}
	return moved
}

// lock returns the end of a statement that reads rows which the transaction
// changes.
func (s *Service) lock() string {
	if s.db.Dialect == database.Postgres {
		return " FOR UPDATE"
	}
	return ""
}

// Delete removes a server with its tools. Later calls of these fail.
func (a *Account) Delete(ctx context.Context, id string) error {
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		r, err := a.row(ctx, tx, id, a.s.lock())
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM mcp_remote_server WHERE id = $1`, id); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.ServerDelete, r, nil)
	})
	if err != nil {
		return fmt.Errorf("deleting a server: %w", err)
	}
	a.s.pool.forget(id)
	return nil
}

// DeleteAll removes all servers of the account.
func (a *Account) DeleteAll(ctx context.Context) error {
	var ids []string
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		return tx.SelectContext(ctx, &ids, `DELETE FROM mcp_remote_server WHERE account = $1 RETURNING id`, a.id)
	})
	if err != nil {
		return fmt.Errorf("deleting servers: %w", err)
	}
	for _, id := range ids {
		a.s.pool.forget(id)
	}
	return nil
}
