package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

var _ provider.Eraser = (*Provider)(nil)

// eraseRows limits how many rows one statement deletes from a large table.
const eraseRows = 200

// manyErasures delete at most $3 rows of a person or group ($2) from the tables
// in which a device ($1) has a row for each message or member of a group.
var manyErasures = []string{
	`DELETE FROM whatsmeow_message_secrets WHERE our_jid = $1 AND (chat_jid, sender_jid, message_id) IN (SELECT chat_jid, sender_jid, message_id
		FROM whatsmeow_message_secrets WHERE our_jid = $1 AND (chat_jid = $2 OR sender_jid = $2) LIMIT $3)`,
	`DELETE FROM whatsmeow_retry_buffer WHERE our_jid = $1 AND (chat_jid, message_id) IN (SELECT chat_jid, message_id
		FROM whatsmeow_retry_buffer WHERE our_jid = $1 AND chat_jid = $2 LIMIT $3)`,
	`DELETE FROM whatsmeow_sender_keys WHERE our_jid = $1 AND (chat_id, sender_id) IN (SELECT chat_id, sender_id
		FROM whatsmeow_sender_keys WHERE our_jid = $1 AND chat_id = $2 LIMIT $3)`,
}

// manyKeyErasures delete at most $4 keys of a person's devices in groups.
var manyKeyErasures = []string{
	`DELETE FROM whatsmeow_sender_keys WHERE our_jid = $1 AND (chat_id, sender_id) IN (SELECT chat_id, sender_id
		FROM whatsmeow_sender_keys WHERE our_jid = $1 AND (sender_id LIKE $2 ESCAPE '!' OR sender_id LIKE $3 ESCAPE '!') LIMIT $4)`,
}

// erasures delete the few rows of a person or group ($2) in other tables.
var erasures = []string{
	`DELETE FROM whatsmeow_contacts WHERE our_jid = $1 AND their_jid = $2`,
	`DELETE FROM whatsmeow_chat_settings WHERE our_jid = $1 AND chat_jid = $2`,
	`DELETE FROM whatsmeow_privacy_tokens WHERE our_jid = $1 AND their_jid = $2`,
}

// keyErasures delete the keys shared with a person's devices, whose names start
// like $2 or $3. New keys are exchanged with the next message.
var keyErasures = []string{
	`DELETE FROM whatsmeow_sessions WHERE our_jid = $1 AND (their_id LIKE $2 ESCAPE '!' OR their_id LIKE $3 ESCAPE '!')`,
	`DELETE FROM whatsmeow_identity_keys WHERE our_jid = $1 AND (their_id LIKE $2 ESCAPE '!' OR their_id LIKE $3 ESCAPE '!')`,
}

// EraseTx deletes the data of people and groups that a reference stores: names,
// phone numbers of LIDs, messages that are kept for retries, and keys. It deletes
// a few hundred rows at most; more reports that it must be called again. The
// transaction must be of the database of [New].
func (p *Provider) EraseTx(ctx context.Context, on provider.Tx, ref provider.ReferenceID, chatIDs []string) (more bool, err error) {
	tx, err := p.devices.db.Join(on)
	if err != nil {
		return false, fmt.Errorf("web: erasing: %w", err)
	}
	whose, err := idsOf(ctx, tx, ref, chatIDs)
	if err != nil {
		return false, err
	}
	var ours string
	err = tx.GetContext(ctx, &ours, `SELECT jid FROM web_device WHERE reference = $1`, ref)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("web: reading the device of a reference: %w", err)
	}
	for _, j := range whose {
		if more, err = eraseMany(ctx, tx, ours, j); err != nil || more {
			return more, orErasing(err)
		}
	}
	for _, j := range whose { // last, because the ids of a person are read from these rows
		if err := eraseID(ctx, tx, ref, ours, j); err != nil {
			return false, orErasing(err)
		}
	}
	return false, nil
}

func orErasing(err error) error {
	if err != nil {
		return fmt.Errorf("web: erasing: %w", err)
	}
	return nil
}

// eraseMany deletes some rows of an id from the large tables, and reports
// whether there may be more.
func eraseMany(ctx context.Context, tx *database.Tx, ours string, j types.JID) (more bool, err error) {
	some := func(query string, args ...any) (bool, error) {
		res, err := tx.ExecContext(ctx, query, append(args, eraseRows)...)
		if err != nil {
			return false, err
		}
		n, err := res.RowsAffected()
		return n == eraseRows, err
	}
	for _, q := range manyErasures {
		if more, err := some(q, ours, j.String()); err != nil || more {
			return more, err
		}
	}
	if j.Server == types.GroupServer {
		return false, nil
	}
	for _, q := range manyKeyErasures {
		if more, err := some(q, ours, j.User+`:%`, j.User+`!_%`); err != nil || more {
			return more, err
		}
	}
	return false, nil
}

// idsOf parses chat ids and adds the other ids of the same people.
func idsOf(ctx context.Context, tx *database.Tx, ref provider.ReferenceID, chatIDs []string) ([]types.JID, error) {
	var out []types.JID
	for _, id := range chatIDs {
		j, err := types.ParseJID(id)
		if err != nil {
			continue // the id is of another kind of reference
		}
		out = append(out, j)
		query, server := `SELECT phone FROM web_lid WHERE reference = $1 AND lid = $2`, types.DefaultUserServer
		if j.Server == types.DefaultUserServer {
			query, server = `SELECT lid FROM web_lid WHERE reference = $1 AND phone = $2`, types.HiddenUserServer
		}
		var user string
		switch err := tx.GetContext(ctx, &user, query, ref, j.User); {
		case err == nil:
			out = append(out, types.NewJID(user, server))
		case !errors.Is(err, sql.ErrNoRows):
			return nil, fmt.Errorf("web: looking up a LID: %w", err)
		}
	}
	return out, nil
}

// eraseID deletes the rows of one id. ours is the device of the reference; "":
// it has none.
func eraseID(ctx context.Context, tx *database.Tx, ref provider.ReferenceID, ours string, j types.JID) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM web_lid WHERE reference = $1 AND (lid = $2 OR phone = $2)`, ref, j.User); err != nil {
		return err
	}
	for _, q := range erasures {
		if _, err := tx.ExecContext(ctx, q, ours, j.String()); err != nil {
			return err
		}
	}
	if j.Server == types.GroupServer {
		return nil
	}
	for _, q := range keyErasures { // "user:device", or "user_agent:device"
		if _, err := tx.ExecContext(ctx, q, ours, j.User+`:%`, j.User+`!_%`); err != nil {
			return err
		}
	}
	return nil
}

// deviceTables are the large tables of whatsmeow and their columns that name the
// device.
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

// forget deletes the device of a reference. It deletes from the large tables
// first, in small transactions. After an interruption, another call continues.
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

// inSteps deletes the rows of a table whose column has a value, in several small
// transactions.
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
