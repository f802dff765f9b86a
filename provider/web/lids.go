package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
)

// lids stores the phone numbers of LIDs that one reference has received.
type lids struct{ g *guarded }

// PutLIDMapping stores the number of a LID.
func (l *lids) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
	return l.PutManyLIDMappings(ctx, []store.LIDMapping{{LID: lid, PN: pn}})
}

// PutManyLIDMappings stores the numbers of LIDs.
func (l *lids) PutManyLIDMappings(ctx context.Context, ms []store.LIDMapping) error {
	var add []store.LIDMapping
	for _, m := range ms {
		if m.LID.Server != types.HiddenUserServer || m.PN.Server != types.DefaultUserServer {
			continue
		}
		known, err := l.GetPNForLID(ctx, m.LID)
		if err != nil {
			return err
		}
		if known.User != m.PN.User {
			add = append(add, m)
		}
	}
	if len(add) == 0 {
		return nil
	}
	if !leased(l.g.ref) {
		return errLost
	}
	err := l.g.db.Write(ctx, func(tx *database.Tx) error {
		for _, m := range add {
			if _, err := tx.ExecContext(ctx, `DELETE FROM web_lid WHERE reference = $1 AND phone = $2`, l.g.ref.ID, m.PN.User); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO web_lid (reference, lid, phone) VALUES ($1, $2, $3)
				ON CONFLICT (reference, lid) DO UPDATE SET phone = excluded.phone`, l.g.ref.ID, m.LID.User, m.PN.User); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("storing the number of a LID: %w", err)
	}
	return nil
}

// GetPNForLID returns the number of a LID, or the empty JID.
func (l *lids) GetPNForLID(ctx context.Context, lid types.JID) (types.JID, error) {
	return l.other(ctx, lid, types.DefaultUserServer, `SELECT phone FROM web_lid WHERE reference = $1 AND lid = $2`)
}

// GetLIDForPN returns the LID of a number, or the empty JID.
func (l *lids) GetLIDForPN(ctx context.Context, pn types.JID) (types.JID, error) {
	return l.other(ctx, pn, types.HiddenUserServer, `SELECT lid FROM web_lid WHERE reference = $1 AND phone = $2`)
}

// GetManyLIDsForPNs returns the LIDs of numbers, as far as they are known.
func (l *lids) GetManyLIDsForPNs(ctx context.Context, pns []types.JID) (map[types.JID]types.JID, error) {
	out := make(map[types.JID]types.JID, len(pns))
	for _, pn := range pns {
		lid, err := l.GetLIDForPN(ctx, pn)
		if err != nil {
			return nil, err
		}
		if !lid.IsEmpty() {
			out[pn] = lid
		}
	}
	return out, nil
}

// forms returns an id and the other id of the same person, if it is known.
func (l *lids) forms(ctx context.Context, j types.JID) ([]types.JID, error) {
	var other types.JID
	var err error
	switch j.Server {
	case types.DefaultUserServer:
		other, err = l.GetLIDForPN(ctx, j)
	case types.HiddenUserServer:
		other, err = l.GetPNForLID(ctx, j)
	}
	if err != nil || other.IsEmpty() {
		return []types.JID{j}, err
	}
	return []types.JID{j, other}, nil
}

func (l *lids) other(ctx context.Context, j types.JID, server, query string) (types.JID, error) {
	var user string
	err := l.g.db.GetContext(ctx, &user, query, l.g.ref.ID, j.User)
	if errors.Is(err, sql.ErrNoRows) {
		return types.EmptyJID, nil
	}
	if err != nil {
		return types.EmptyJID, fmt.Errorf("looking up a LID: %w", err)
	}
	return types.JID{User: user, Device: j.Device, Server: server}, nil
}
