package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// ListenersTx returns the enabled endpoints of the account, of all its scopes,
// that ask for a type of event, oldest first. With [Event.Endpoint] a program
// tells each of them, or some, what concerns the account and no scope.
func (a *Account) ListenersTx(ctx context.Context, tx *sqlx.Tx, eventType string) ([]Endpoint, error) {
	var rows []endpointRow
	err := tx.SelectContext(ctx, &rows, `SELECT `+endpointColumns+`
		FROM webhook_endpoint WHERE account = $1 AND enabled ORDER BY created_us, id`, a.id)
	if err != nil {
		return nil, fmt.Errorf("listing who listens: %w", err)
	}
	out := []Endpoint{}
	for i := range rows {
		if !rows[i].wants(eventType, "") || !a.d.has(rows[i].Format, eventType, nil) {
			continue
		}
		ep, err := a.d.public(&rows[i])
		if err != nil {
			return nil, err
		}
		out = append(out, ep)
	}
	return out, nil
}
