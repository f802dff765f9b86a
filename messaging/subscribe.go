package messaging

import (
	"context"
	"fmt"
	"net/url"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/provider"
)

// maxCallbackURL bounds a callback's address in bytes.
const maxCallbackURL = 2048

// Subscribe makes a reference's network post its events, to callbackURL, or with ""
// to the address in the network's own settings. Later starts of the session
// keep it. A network that refuses is an [*Error] with its own words.
func (a *References) Subscribe(ctx context.Context, id provider.ReferenceID, callbackURL string) error {
	row, _, err := a.s.store.Opened(ctx, a.s.db, a.id, id)
	if err != nil {
		return err
	}
	if err := checkCallbackURL(callbackURL); err != nil {
		return err
	}
	sess, err := a.s.connections.Get(ctx, row)
	if err != nil {
		return err
	}
	sub, ok := sess.(provider.Subscriber)
	if !ok {
		return &Error{Code: CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " receives events without a subscription."}
	}
	err = sub.Subscribe(ctx, callbackURL)
	broken := refusal.BrokenRules(err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case broken != nil:
		return broken
	case err != nil:
		return refusal.OfNetwork(err)
	}
	return a.keepCallback(ctx, row.ID, callbackURL)
}

func checkCallbackURL(raw string) error {
	if raw == "" {
		return nil
	}
	u, err := url.Parse(raw)
	switch {
	case len(raw) > maxCallbackURL:
		return &Invalid{Field: "callbackUrl", Message: fmt.Sprintf("must have at most %d characters", maxCallbackURL)}
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || text.Sanitize(raw) != raw:
		return &Invalid{Field: "callbackUrl", Message: "must be an absolute https URL"}
	case u.User != nil || u.Fragment != "":
		return &Invalid{Field: "callbackUrl", Message: "must not have a user or a fragment"}
	}
	return nil
}

// keepCallback remembers what the network was told.
func (a *References) keepCallback(ctx context.Context, id provider.ReferenceID, callbackURL string) error {
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		// The revision makes every node open the reference again.
		_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET callback_url = $1, revision = revision + 1, updated_us = $2
			WHERE id = $3 AND account = $4 AND callback_url <> $1`, callbackURL, database.Micros(a.s.now()), id, a.id)
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.WebhookSubscribe, Reference: int64(id)})
	})
	if err != nil {
		return fmt.Errorf("storing a callback's address: %w", err)
	}
	a.s.referencesChanged()
	return nil
}
