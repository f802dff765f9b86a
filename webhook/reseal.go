package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// reseal seals again what a retired secret has sealed, so that it can be
// dropped. It fails when something does not open.
func (d *Dispatcher) reseal(ctx context.Context) error {
	var rows []endpointRow
	err := d.db.SelectContext(ctx, &rows, `SELECT `+endpointColumns+` FROM webhook_endpoint
		WHERE headers NOT LIKE $1 OR secret NOT LIKE $1 OR (old_secret <> '' AND old_secret NOT LIKE $1)`, d.keys.Prefix()+"%")
	if err != nil {
		return fmt.Errorf("looking for what is sealed under a retired secret: %w", err)
	}
	for i := range rows {
		if err := d.resealEndpoint(ctx, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dispatcher) resealEndpoint(ctx context.Context, r *endpointRow) error {
	for _, column := range []struct {
		place string
		text  *string
	}{{"headers", &r.Headers}, {"secret", &r.Secret}, {"secret", &r.OldSecret}} {
		if *column.text == "" {
			continue
		}
		clear, err := d.keys.Open(sealedAs(r.ID, column.place), *column.text)
		if err != nil {
			return fmt.Errorf("opening the %s of endpoint %s: %w", column.place, r.ID, err)
		}
		*column.text = d.keys.Seal(sealedAs(r.ID, column.place), clear)
	}
	err := d.db.InTx(ctx, func(tx *sqlx.Tx) error {
		// A change of the row meanwhile has sealed it too.
		_, err := tx.ExecContext(ctx, `UPDATE webhook_endpoint SET headers = $1, secret = $2, old_secret = $3 WHERE id = $4 AND revision = $5`,
			r.Headers, r.Secret, r.OldSecret, r.ID, r.Revision)
		return err
	})
	if err != nil {
		return fmt.Errorf("sealing endpoint %s anew: %w", r.ID, err)
	}
	return nil
}
