package web

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// deviceTables are the tables of whatsmeow in which a device may have much, by
// the column that names it.
var deviceTables = []struct{ table, device string }{
	{"whatsmeow_message_secrets", "our_jid"},
	{"whatsmeow_retry_buffer", "our_jid"},
	{"whatsmeow_event_buffer", "our_jid"},
	{"whatsmeow_contacts", "our_jid"},
	{"whatsmeow_chat_settings", "our_jid"},
	{"whatsmeow_privacy_tokens", "our_jid"},
	{"whatsmeow_app_state_mutation_macs", "jid"},
	{"whatsmeow_sender_keys", "our_jid"},
	{"whatsmeow_sessions", "our_jid"},
	{"whatsmeow_identity_keys", "our_jid"},
	{"whatsmeow_pre_keys", "jid"},
}

// forget deletes the device of a line. What there may be much of goes first, in
// small transactions; what is interrupted continues from there when it is called
// again.
func (d *devices) forget(ctx context.Context, ref provider.ReferenceID) error {
	g := d.of(provider.Reference{ID: ref}, nil)
	dev, err := d.load(ctx, g)
	if err != nil {
		return err
	}
	if dev != nil {
		for _, t := range deviceTables {
			if err := d.inSteps(ctx, t.table, t.device, dev.ID.String()); err != nil {
				return err
			}
		}
		if err := d.inner(g).DeleteDevice(ctx, dev); err != nil {
			return fmt.Errorf("deleting the keys of a device: %w", err)
		}
	}
	for _, table := range []string{"web_lid", "web_history", "web_contacts", "web_outreach", "web_device"} {
		if err := d.inSteps(ctx, table, "reference", ref); err != nil {
			return err
		}
	}
	return nil
}

// inSteps deletes the rows of a table that a column names, each time some in a
// transaction of their own.
func (d *devices) inSteps(ctx context.Context, table, column string, value any) error {
	id := "rowid"
	if d.db.Dialect == database.Postgres {
		id = "ctid"
	}
	query := fmt.Sprintf(`DELETE FROM %s WHERE %s = $1 AND %s IN (SELECT %[3]s FROM %[1]s WHERE %[2]s = $1 LIMIT $2)`, table, column, id)
	if err := d.db.InSteps(ctx, query, value, eraseRows); err != nil {
		return fmt.Errorf("forgetting a device: %w", err)
	}
	return nil
}
