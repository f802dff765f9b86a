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

// erasures delete what is kept under an id of somebody or of a group ($2), in
// a line's ($1) tables of whatsmeow.
var erasures = []string{
	`DELETE FROM whatsmeow_contacts WHERE our_jid = $1 AND their_jid = $2`,
	`DELETE FROM whatsmeow_chat_settings WHERE our_jid = $1 AND chat_jid = $2`,
	`DELETE FROM whatsmeow_message_secrets WHERE our_jid = $1 AND (chat_jid = $2 OR sender_jid = $2)`,
	`DELETE FROM whatsmeow_privacy_tokens WHERE our_jid = $1 AND their_jid = $2`,
	`DELETE FROM whatsmeow_retry_buffer WHERE our_jid = $1 AND chat_jid = $2`,
	`DELETE FROM whatsmeow_sender_keys WHERE our_jid = $1 AND chat_id = $2`,
}

// keyErasures delete the keys shared with somebody's devices, whose names begin
// with $2 or $3. Who writes again is asked for new ones.
var keyErasures = []string{
	`DELETE FROM whatsmeow_sessions WHERE our_jid = $1 AND (their_id LIKE $2 ESCAPE '!' OR their_id LIKE $3 ESCAPE '!')`,
	`DELETE FROM whatsmeow_identity_keys WHERE our_jid = $1 AND (their_id LIKE $2 ESCAPE '!' OR their_id LIKE $3 ESCAPE '!')`,
	`DELETE FROM whatsmeow_sender_keys WHERE our_jid = $1 AND (sender_id LIKE $2 ESCAPE '!' OR sender_id LIKE $3 ESCAPE '!')`,
}

// EraseTx deletes what a line keeps of somebody or of a group: names, numbers of
// hidden ids, texts kept for who could not read them, and keys. Tx must be of
// the database of [New].
func (p *Provider) EraseTx(ctx context.Context, tx *sql.Tx, ref provider.ReferenceID, chatIDs []string) error {
	whose, err := idsOf(ctx, tx, ref, chatIDs)
	if err != nil {
		return err
	}
	var ours string
	err = tx.QueryRowContext(ctx, `SELECT jid FROM web_device WHERE reference = $1`, ref).Scan(&ours)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("web: reading which device a line has: %w", err)
	}
	for _, j := range whose {
		if err := eraseID(ctx, tx, ref, ours, j); err != nil {
			return fmt.Errorf("web: erasing: %w", err)
		}
	}
	return nil
}

// idsOf reads the ids, and adds the other ids of the same people.
func idsOf(ctx context.Context, tx *sql.Tx, ref provider.ReferenceID, chatIDs []string) ([]types.JID, error) {
	var out []types.JID
	for _, id := range chatIDs {
		j, err := types.ParseJID(id)
		if err != nil {
			continue // an id of another kind of line leads to nobody here
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
