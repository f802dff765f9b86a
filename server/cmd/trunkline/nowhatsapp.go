//go:build noweb

package main

import (
	"context"
	"log/slog"
	"net"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server"
)

// licence is that of the program.
const licence = "Apache-2.0"

// testVariables are settings for tests, of which there are none.
var testVariables []string

// migrate creates or upgrades the tables of the server.
func migrate(ctx context.Context, db *sqlx.DB) error { return server.Migrate(ctx, db) }

// providers returns nothing: this program is built without WhatsApp Web.
func providers(context.Context, *sqlx.DB, settings, net.Addr, *slog.Logger) ([]provider.Provider, error) {
	return nil, nil
}

// whatsapp does nothing.
func (*doctor) whatsapp(context.Context, []messaging.ReferenceState) {}
