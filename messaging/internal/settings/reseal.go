package settings

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Reseal seals again what a retired secret has sealed, so that it can be
// dropped. It fails when something does not open.
func (b *Box) Reseal(ctx context.Context) error {
	if b.Keys == nil {
		return nil
	}
	var rows []store.Reference // one write seals all secrets of a reference
	err := b.Store.DB.SelectContext(ctx, &rows, `SELECT `+store.ReferenceColumns+` FROM messaging_reference
		WHERE settings LIKE $1 AND settings NOT LIKE $2`, `%"v1.%`, `%"`+b.Keys.Prefix()+`%`)
	if err != nil {
		return fmt.Errorf("looking for what is sealed under a retired secret: %w", err)
	}
	for i := range rows {
		p, ok := b.Store.Kinds[rows[i].Kind]
		if !ok {
			continue // nothing is known of its settings, and they are never opened
		}
		if err := b.reseal(ctx, p, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *Box) reseal(ctx context.Context, p provider.Provider, r *store.Reference) error {
	settings, err := b.Open(p, r)
	if err != nil {
		return err
	}
	stored, verifyHash, err := b.seal(p, r.ID, settings)
	if err != nil {
		return err
	}
	err = b.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		// A change of the row meanwhile has sealed it too.
		_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET settings = $1, verify_hash = $2 WHERE id = $3 AND revision = $4`,
			stored, verifyHash, r.ID, r.Revision)
		return err
	})
	if err != nil {
		return fmt.Errorf("sealing the settings of reference %d anew: %w", r.ID, err)
	}
	return nil
}
