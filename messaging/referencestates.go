package messaging

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// ReferenceState is how a reference stands, as its network last said.
type ReferenceState struct {
	ID      provider.ReferenceID
	Kind    provider.Kind
	State   State
	Code    string // of its last error; "": there is none
	Message string
	// Settings are what the reference is configured with, secrets in clear; nil: its
	// kind is none of the providers'.
	Settings provider.Settings
	// Issues are what does not work with those settings.
	Issues []HealthReport
}

// ReferenceStates are the references of all accounts, the oldest first, for the operator who looks
// after a server; it changes nothing. Of opts it uses Providers and Secrets:
// settings of theirs that no secret opens are an error. nil: no settings.
func ReferenceStates(ctx context.Context, db *sqlx.DB, opts *Options) ([]ReferenceState, error) {
	if opts == nil {
		opts = &Options{}
	}
	var keys *keyring.Ring
	if opts.Secrets != nil {
		var err error
		if keys, err = keyring.New("messaging", opts.Secrets); err != nil {
			return nil, fmt.Errorf("Options.Secrets: %w", err)
		}
	}
	var rows []store.Reference
	if err := db.SelectContext(ctx, &rows, `SELECT `+store.ReferenceColumns+` FROM messaging_reference
		WHERE account NOT LIKE 'deleted:%' ORDER BY id`); err != nil {
		return nil, fmt.Errorf("listing references: %w", err)
	}
	out := make([]ReferenceState, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = ReferenceState{ID: r.ID, Kind: r.Kind, State: r.State, Code: r.ErrorCode, Message: r.ErrorMessage}
		for _, p := range opts.Providers {
			if p.Kind() != r.Kind {
				continue
			}
			var err error
			if out[i].Settings, err = settings.Open(keys, p, r); err != nil {
				return nil, err
			}
			out[i].Issues = settings.Inspect(p, out[i].Settings, r)
		}
	}
	return out, nil
}
