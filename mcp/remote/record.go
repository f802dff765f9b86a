package remote

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// recordTx records an action on a server in the audit log. details may be nil.
func recordTx(ctx context.Context, tx *database.Tx, action audit.Action, r serverRow, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Details: details})
}

// details returns the names of the fields that a change sets, and of the tools that
// it approves.
func (c Change) details() map[string]any {
	out := map[string]any{}
	var names []string
	for _, m := range []struct {
		name string
		is   bool
	}{
		{"name", c.Name != nil},
		{"url", c.URL != nil},
		{"credential", c.Credential != nil},
		{"enabled", c.Enabled != nil},
		{"tools", len(c.Approve) > 0},
	} {
		if m.is {
			names = append(names, m.name)
		}
	}
	if len(names) > 0 {
		out["changed"] = names
	}
	tools := map[bool][]string{}
	for _, p := range c.Approve {
		tools[p.Withdraw] = append(tools[p.Withdraw], p.Name)
	}
	if tools[false] != nil {
		out["approved"] = tools[false]
	}
	if tools[true] != nil {
		out["withdrawn"] = tools[true]
	}
	return out
}
