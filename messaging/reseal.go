package messaging

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// checkSecrets makes the keys of Options.Secrets and seals anew what a retired
// secret has sealed, so that it can be dropped. It fails when something does
// not open.
func (s *Service) checkSecrets(ctx context.Context) (err error) {
	if s.opts.Secrets == nil {
		return nil
	}
	if s.keys, err = keyring.New("messaging", s.opts.Secrets); err != nil {
		return fmt.Errorf("Options.Secrets: %w", err)
	}
	s.opts.Secrets = nil       // nobody prints them by mistake
	var rows []store.Reference // one write seals all secrets of a reference
	err = s.db.SelectContext(ctx, &rows, `SELECT `+store.ReferenceColumns+` FROM messaging_reference
		WHERE settings LIKE $1 AND settings NOT LIKE $2`, `%"v1.%`, `%"`+s.keys.Prefix()+`%`)
	if err != nil {
		return fmt.Errorf("looking for what is sealed under a retired secret: %w", err)
	}
	for i := range rows {
		p, ok := s.kinds[rows[i].Kind]
		if !ok {
			continue // nothing is known of its settings, and they are never opened
		}
		if err := s.resealSettings(ctx, p, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) resealSettings(ctx context.Context, p provider.Provider, r *store.Reference) error {
	settings, err := s.openSettings(p, r)
	if err != nil {
		return err
	}
	stored, verifyHash, err := s.sealSettings(p, r.ID, settings)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		// Whoever changed the row meanwhile has sealed it too.
		_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET settings = $1, verify_hash = $2 WHERE id = $3 AND revision = $4`,
			stored, verifyHash, r.ID, r.Revision)
		return err
	})
	if err != nil {
		return fmt.Errorf("sealing the settings of reference %d anew: %w", r.ID, err)
	}
	return nil
}
