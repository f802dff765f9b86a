package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Tool is a tool of a foreign server, as it was last seen.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of its arguments
	Hints       Hints
	Hash        string // SHA-256, hexadecimal
	Approved    bool   // it may be used
	Changed     bool   // it has changed since it was approved
	// Before is the approved definition of a tool that has Changed. nil: unknown,
	// as older versions did not keep it.
	Before *Definition
}

type toolRow struct {
	Server, Name               string
	Position                   int64
	Definition, Hash, Approved string
	ApprovedDefinition         string `db:"approved_definition"` // "": not known
}

const toolColumns = `server, name, position, definition, hash, approved, approved_definition`

func (r toolRow) definition() (d Definition) {
	_ = json.Unmarshal([]byte(r.Definition), &d) // this package wrote it
	return d
}

func (r toolRow) usable() bool { return r.Hash != "" && r.Approved == r.Hash }

func (r toolRow) view() Tool {
	d := r.definition()
	t := Tool{
		Name: r.Name, Description: d.Description, Schema: d.Schema, Hints: d.Hints, Hash: r.Hash,
		Approved: r.usable(), Changed: r.Approved != "" && !r.usable(),
	}
	if t.Changed && r.ApprovedDefinition != "" {
		before := toolRow{Definition: r.ApprovedDefinition}.definition()
		t.Before = &before
	}
	return t
}

// toolsOf returns the tools that a server has now, in its order.
func (s *Service) toolsOf(ctx context.Context, q database.Reader, server string) ([]toolRow, error) {
	rows := []toolRow{}
	if err := q.SelectContext(ctx, &rows, `SELECT `+toolColumns+` FROM mcp_remote_tool WHERE server = $1 AND hash <> '' ORDER BY position`, server); err != nil {
		return nil, fmt.Errorf("reading the tools of a server: %w", err)
	}
	return rows, nil
}

// approveTx approves a tool as it is now, or withdraws its approval.
func approveTx(ctx context.Context, tx *database.Tx, server string, p Approval) error {
	var res interface{ RowsAffected() (int64, error) }
	var err error
	if p.Withdraw {
		res, err = tx.ExecContext(ctx, `UPDATE mcp_remote_tool SET approved = '', approved_definition = '' WHERE server = $1 AND name = $2`, server, p.Name)
	} else {
		res, err = tx.ExecContext(ctx, `UPDATE mcp_remote_tool SET approved = hash, approved_definition = definition WHERE server = $1 AND name = $2 AND hash = $3 AND hash <> ''`, server, p.Name, p.Hash)
	}
	if err != nil {
		return fmt.Errorf("approving a tool: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrChanged)
	}
	return nil
}

// seen stores the tools that a server has listed. A tool that has changed is off
// from then on, and one that is missing is off until it is back. Both keep their
// approved definition.
func (s *Service) seen(ctx context.Context, r serverRow, listed []*sdk.Tool) error {
	var changed []string
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		changed = changed[:0]
		var now serverRow
		err := tx.GetContext(ctx, &now, `SELECT `+serverColumns+` FROM mcp_remote_server WHERE id = $1`+s.lock(), r.ID)
		if err != nil || now.Revision != r.Revision {
			return found(err) // the server has moved meanwhile: the list is another server's
		}
		known, err := s.knownTx(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		if changed, err = s.keepTx(ctx, tx, r.ID, listed, known); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE mcp_remote_server SET checked_us = $1, problem = '' WHERE id = $2`, database.Micros(s.opts.Now()), r.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the tools of a server: %w", err)
	}
	for _, name := range changed {
		s.opts.Logger.WarnContext(ctx, "a tool of a foreign server has changed and is off until it is approved again",
			slog.String("account", r.Account), slog.String("server", r.Name), slog.String("tool", name))
	}
	return nil
}

// knownTx returns all tools that a server has ever had, by name.
func (s *Service) knownTx(ctx context.Context, tx *database.Tx, server string) (map[string]toolRow, error) {
	var rows []toolRow
	if err := tx.SelectContext(ctx, &rows, `SELECT `+toolColumns+` FROM mcp_remote_tool WHERE server = $1`, server); err != nil {
		return nil, err
	}
	known := make(map[string]toolRow, len(rows))
	for _, t := range rows {
		known[t.Name] = t
	}
	return known, nil
}

// keepTx stores a list and returns the approved tools that have changed.
func (s *Service) keepTx(ctx context.Context, tx *database.Tx, server string, listed []*sdk.Tool, known map[string]toolRow) (changed []string, err error) {
	names := map[string]bool{}
	for i, t := range listed {
		d, ok := define(t)
		if !ok || names[t.Name] {
			continue
		}
		names[t.Name] = true
		before := known[t.Name]
		next := toolRow{Server: server, Name: t.Name, Position: int64(i), Approved: before.Approved, ApprovedDefinition: before.ApprovedDefinition}
		if next.Hash, err = d.hash(t.Name); err != nil {
			return nil, err
		}
		raw, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		if next.Definition = string(raw); next == before {
			continue
		}
		if before.usable() && before.Hash != "" && before.Hash != next.Hash {
			changed = append(changed, t.Name)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO mcp_remote_tool (server, name, position, definition, hash, approved) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (server, name) DO UPDATE SET position = excluded.position, definition = excluded.definition, hash = excluded.hash`,
			next.Server, next.Name, next.Position, next.Definition, next.Hash, next.Approved); err != nil {
			return nil, err
		}
	}
	return changed, dropTx(ctx, tx, server, known, names)
}

// dropTx marks the tools that are missing. It deletes those that were never
// approved.
func dropTx(ctx context.Context, tx *database.Tx, server string, known map[string]toolRow, listed map[string]bool) error {
	for name, t := range known {
		if listed[name] || t.Hash == "" {
			continue
		}
		statement := `DELETE FROM mcp_remote_tool WHERE server = $1 AND name = $2`
		if t.Approved != "" {
			statement = `UPDATE mcp_remote_tool SET hash = '' WHERE server = $1 AND name = $2`
		}
		if _, err := tx.ExecContext(ctx, statement, server, name); err != nil {
			return err
		}
	}
	return nil
}

// unseen stores why a server's tools could not be listed.
func (s *Service) unseen(ctx context.Context, r serverRow, why string) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE mcp_remote_server SET checked_us = $1, problem = $2 WHERE id = $3 AND revision = $4`,
			database.Micros(s.opts.Now()), why, r.ID, r.Revision)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the problem of a server: %w", err)
	}
	return nil
}
