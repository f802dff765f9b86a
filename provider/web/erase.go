package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

var _ provider.Eraser = (*Provider)(nil)

// eraseRows is how many rows a transaction erases of what there may be much of.
const eraseRows = 200

// manyErasures delete what is kept of each message or each member of a group:
// $3 rows of what is kept under an id of a person or of a group ($2), in a line's
// ($1) tables of whatsmeow.
var manyErasures = []string{
	`DELETE FROM whatsmeow_message_secrets WHERE our_jid = $1 AND (chat_jid, sender_jid, message_id) IN (SELECT chat_jid, sender_jid, message_id
		FROM whatsmeow_message_secrets WHERE our_jid = $1 AND (chat_jid = $2 OR sender_jid = $2) LIMIT $3)`,
	`DELETE FROM whatsmeow_retry_buffer WHERE our_jid = $1 AND (chat_jid, message_id) IN (SELECT chat_jid, message_id
		FROM whatsmeow_retry_buffer WHERE our_jid = $1 AND chat_jid = $2 LIMIT $3)`,
	`DELETE FROM whatsmeow_sender_keys WHERE our_jid = $1 AND (chat_id, sender_id) IN (SELECT chat_id, sender_id
		FROM whatsmeow_sender_keys WHERE our_jid = $1 AND chat_id = $2 LIMIT $3)`,
}

// manyKeyErasures delete so many of the keys of a person's devices in groups.
var manyKeyErasures = []string{
	`DELETE FROM whatsmeow_sender_keys WHERE our_jid = $1 AND (chat_id, sender_id) IN (SELECT chat_id, sender_id
		FROM whatsmeow_sender_keys WHERE our_jid = $1 AND (sender_id LIKE $2 ESCAPE '!' OR sender_id LIKE $3 ESCAPE '!') LIMIT $4)`,
}

// erasures delete what there is little of under such an id.
var erasures = []string{
	`DELETE FROM whatsmeow_contacts WHERE our_jid = $1 AND their_jid = $2`,
	`DELETE FROM whatsmeow_chat_settings WHERE our_jid = $1 AND chat_jid = $2`,
	`DELETE FROM whatsmeow_privacy_tokens WHERE our_jid = $1 AND their_jid = $2`,
}

// keyErasures delete the keys shared with a person's devices, whose names begin
// with $2 or $3. Who writes again is asked for new ones.
var keyErasures = []string{
	`DELETE FROM whatsmeow_sessions WHERE our_jid = $1 AND (their_id LIKE $2 ESCAPE '!' OR their_id LIKE $3 ESCAPE '!')`,
	`DELETE FROM whatsmeow_identity_keys WHERE our_jid = $1 AND (their_id LIKE $2 ESCAPE '!' OR their_id LIKE $3 ESCAPE '!')`,
}

// EraseTx deletes what a line keeps of a person or of a group: names, numbers of
// hidden ids, texts kept for who could not read them, and keys, or some hundred
// rows of it. Tx must be of the database of [New].
func (p *Provider) EraseTx(ctx context.Context, tx *sql.Tx, ref provider.ReferenceID, chatIDs []string) (more bool, err error) {
	whose, err := idsOf(ctx, tx, ref, chatIDs)
	if err != nil {
		return false, err
	}
	var ours string
	err = tx.QueryRowContext(ctx, `SELECT jid FROM web_device WHERE reference = $1`, ref).Scan(&ours)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("web: reading which device a line has: %w", err)
	}
	for _, j := range whose {
		if more, err = eraseMany(ctx, tx, ours, j); err != nil || more {
			return more, orErasing(err)
		}
	}
	for _, j := range whose { // last, for here are the ids that a person has
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

// eraseMany deletes some rows of what there may be much of under an id, and says
// whether there may be more.
func eraseMany(ctx context.Context, tx *sql.Tx, ours string, j types.JID) (more bool, err error) {
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

// idsOf reads the ids, and adds the other ids of the same people.
func idsOf(ctx context.Context, tx *sql.Tx, ref provider.ReferenceID, chatIDs []string) ([]types.JID, error) {
	var out []types.JID
	for _, id := range chatIDs {
		j, err := types.ParseJID(id)
		if err != nil {
			continue // an id of another kind of line is not known here
		}
		out = append(out, j)
		query, server := `SELECT phone FROM web_lid WHERE reference = $1 AND lid = $2`, types.DefaultUserServer
		if j.Server == types.DefaultUserServer {
			query, server = `SELECT lid FROM web_lid WHERE reference = $1 AND phone = $2`, types.HiddenUserServer
		}
		var user string
		switch err := tx.QueryRowContext(ctx, query, ref, j.User).Scan(&user); {
		case err == nil:
			out = append(out, types.NewJID(user, server))
		case !errors.Is(err, sql.ErrNoRows):
			return nil, fmt.Errorf("web: reading whose a hidden id is: %w", err)
		}
	}
	return out, nil
}

// eraseID deletes what is kept under one id. Ours is the device of the line; "":
// it has none.
func eraseID(ctx context.Context, tx *sql.Tx, ref provider.ReferenceID, ours string, j types.JID) error {
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
