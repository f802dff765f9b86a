package messaging

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// recordReferenceTx records what was done to a reference.
func recordReferenceTx(ctx context.Context, tx *database.Tx, action audit.Action, row *store.Reference, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{
		Action: action, ObjectID: strconv.FormatInt(int64(row.ID), 10), ObjectName: row.Name, Reference: int64(row.ID), Details: details,
	})
}

// changed are the names of what a change has.
func (c *ReferenceChange) changed() []string {
	var names []string
	if c.Name != nil {
		names = append(names, "name")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		names = append(names, "settings."+name)
	}
	return names
}

// recordChatTx records what was done to a chat. Its id is forgotten when the
// contact is erased; names of contacts are not recorded.
func recordChatTx(ctx context.Context, tx *database.Tx, action audit.Action, ref provider.ReferenceID, chatID string, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: chatID, Reference: int64(ref), Details: details})
}

// recordGroupTx records what was done to a group.
func recordGroupTx(ctx context.Context, tx *database.Tx, action audit.Action, ref provider.ReferenceID, chat provider.Address, changed string) error {
	e := audit.Entry{Action: action, ObjectID: chat.ChatID, Reference: int64(ref)}
	if action == audit.GroupUpdate {
		e.Details = audit.Changed(changed)
	}
	return audit.RecordTx(ctx, tx, e)
}

// changed are the names of what a change has, in which no value is told.
func (c *ChatChange) changed() []string {
	var names []string
	for _, m := range []struct {
		name string
		is   bool
	}{
		{"name", c.Name != nil},
		{"language", c.Language != nil},
		{"tags", c.Tags != nil},
		{"optedOut", c.OptedOut != nil},
		{"botActive", c.BotActive != nil},
		{"handoff", c.Handoff != "" || c.Ask != nil || c.EndAsk},
		{"activeBot", c.ActiveBot != nil},
	} {
		if m.is {
			names = append(names, m.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Variables)) {
		names = append(names, "variables."+name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
		names = append(names, "fields."+name)
	}
	return names
}
