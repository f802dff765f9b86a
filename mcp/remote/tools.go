package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Refresh lists the tools of a server over a new connection. When that fails the
// error is an [*Error], and [Server].Problem has its text.
func (a *Account) Refresh(ctx context.Context, id string) (Server, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	if err != nil {
		return Server{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.s.opts.Connect+a.s.opts.Call)
	defer cancel()
	a.s.pool.renew(id)
	if err := a.s.relist(ctx, r); err != nil {
		if failed, ok := errors.AsType[*Error](err); ok {
			err = errors.Join(failed, a.s.unseen(context.WithoutCancel(ctx), r, failed.Message))
		}
		return Server{}, err
	}
	err = a.s.db.Write(ctx, func(tx *database.Tx) error {
		return recordTx(context.WithoutCancel(ctx), tx, audit.ServerRefresh, r, nil)
	})
	if err != nil {
		return Server{}, err
	}
	return a.Server(ctx, id)
}

// relist lists a server's tools and stores them.
func (s *Service) relist(ctx context.Context, r serverRow) error {
	conn, err := s.pool.acquire(ctx, target{server: r})
	if err != nil {
		return unreached(err)
	}
	list, _, err := conn.tools(ctx, s.opts.Now(), 0)
	s.pool.give(conn, err == nil)
	if err != nil {
		return unreached(err)
	}
	return s.seen(ctx, r, list)
}

// Known returns the approved tools of all servers of the account by the server's
// name; nil for a server whose tools were never listed. q reads them: the database,
// or a transaction of the caller.
func (a *Account) Known(ctx context.Context, q database.Reader) (map[string][]string, error) {
	known := map[string][]string{}
	for name := range a.s.opts.Programs {
		known[name] = nil
	}
	var rows []struct {
		Server  string
		Checked int64 `db:"checked_us"`
		Tool    *string
	}
	if err := q.SelectContext(ctx, &rows, `SELECT s.name AS server, s.checked_us, t.name AS tool FROM mcp_remote_server s
		LEFT JOIN mcp_remote_tool t ON t.server = s.id AND t.approved = t.hash AND t.hash <> '' WHERE s.account = $1 ORDER BY s.number, t.position`, a.id); err != nil {
		return nil, fmt.Errorf("listing tools: %w", err)
	}
	for _, r := range rows {
		switch {
		case r.Tool != nil:
			known[r.Server] = append(known[r.Server], *r.Tool)
		case r.Checked > 0:
			known[r.Server] = []string{}
		default:
			known[r.Server] = nil
		}
	}
	return known, nil
}

// Tools returns the approved tools of servers, which are given by name. The name of
// a tool for models is server__tool. A server that does not exist, or is switched
// off, is an [*Error].
func (a *Account) Tools(ctx context.Context, servers []string) ([]llm.Tool, error) {
	tools, taken := []llm.Tool{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(set(servers))) {
		found, err := a.toolsOf(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			if !taken[t.Name] {
				taken[t.Name] = true
				tools = append(tools, t)
			}
		}
	}
	return tools, nil
}

func set(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, n := range names {
		out[n] = true
	}
	return out
}

func (a *Account) toolsOf(ctx context.Context, name string) ([]llm.Tool, error) {
	if p, ok := a.s.opts.Programs[name]; ok {
		return a.programTools(ctx, name, p)
	}
	r, err := a.named(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, &Error{Code: CodeConnect, Message: fmt.Sprintf("There is no MCP server %q.", name)}
	case err != nil:
		return nil, err
	case !r.Enabled:
		return nil, &Error{Code: CodeConnect, Message: fmt.Sprintf("The MCP server %q is switched off.", name)}
	}
	rows, err := a.s.toolsOf(ctx, a.s.db, r.ID)
	if err != nil {
		return nil, err
	}
	var out []llm.Tool
	for _, t := range rows {
		if t.usable() {
			tool := a.tool(name, t.Name, t.definition(), r.Credential != "")
			tool.Others = tool.Private && a.s.opts.Own != nil && a.s.opts.Own(r.URL)
			out = append(out, tool)
		}
	}
	return out, nil
}

// programTools lists the tools of a program.
func (a *Account) programTools(ctx context.Context, name string, p Program) ([]llm.Tool, error) {
	conn, err := a.s.pool.acquire(ctx, a.program(name, p))
	if err != nil {
		return nil, unreached(err)
	}
	list, _, err := conn.tools(ctx, a.s.opts.Now(), listTTL)
	a.s.pool.give(conn, err == nil)
	if err != nil {
		return nil, unreached(err)
	}
	var out []llm.Tool
	for _, t := range list {
		if d, ok := define(t); ok {
			out = append(out, a.tool(name, t.Name, d, true)) // it runs with the rights of this machine
		}
	}
	return out, nil
}

// tool returns a tool for models. Whatever its server claims, calls send their
// arguments to the server. If it only reads data of its own server, data from that
// server may be sent to it.
func (a *Account) tool(server, name string, d Definition, private bool) llm.Tool {
	source, home := "server/"+server, ""
	if d.Hints.ReadOnly && !d.Hints.OpenWorld {
		home = source
	}
	return llm.Tool{
		ToolSpec: llm.ToolSpec{Name: modelName(server, name), Description: d.Description, Schema: d.Schema},
		Origin:   server + "/" + name,
		ReadOnly: d.Hints.ReadOnly, Idempotent: d.Hints.Idempotent, Destructive: d.Hints.Destructive, OpenWorld: d.Hints.OpenWorld,
		Private: private, Untrusted: true, Leaves: true, Source: source, Home: home,
		Call: func(ctx context.Context, c llm.ToolRun) (llm.ToolOutput, error) {
			res, err := a.Call(ctx, Call{Server: server, Tool: name, Arguments: c.Arguments, Key: c.Key})
			var failed *Error
			switch {
			case err == nil:
				return llm.ToolOutput{Content: res.Text, Value: res.Value}, nil
			case errors.As(err, &failed) && failed.Code == CodeTool && res.Text != "":
				return llm.ToolOutput{Content: res.Text, Value: res.Value, IsError: true}, nil
			case errors.As(err, &failed):
				return llm.ToolOutput{}, &llm.ToolError{Code: string(failed.Code), Message: failed.Message}
			}
			return llm.ToolOutput{}, err
		},
	}
}

const (
	maxModelName = 64
	hashDigits   = 8
)

var unspeakable = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// modelName returns the name of a tool for models: server__tool. A name that
// providers would refuse is shortened, and a hash makes it unique.
func modelName(server, tool string) string {
	whole := server + "__" + tool
	name := unspeakable.ReplaceAllString(whole, "_")
	if name == whole && len(name) <= maxModelName {
		return name
	}
	sum := sha256.Sum256([]byte(whole))
	return name[:min(len(name), maxModelName-hashDigits-1)] + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}
