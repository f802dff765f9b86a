package main

import (
	"context"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// answer returns the bot's answer to a text.
func answer(text string) string {
	text = strings.ToLower(text)
	switch {
	case strings.Contains(text, "open"), strings.Contains(text, "hours"):
		return "We are open from Monday to Friday, 9 to 18."
	case strings.Contains(text, "where"):
		return "You find us at Market Street 1."
	}
	return "Somebody will answer you soon."
}

// newChats returns the chats of a database, in which the bot answers: on references of
// the WhatsApp Cloud API, and on the sandbox in tests. graphURL is the address of the
// Graph API, "" is Meta's.
func newChats(ctx context.Context, db *sqlx.DB, secret, graphURL string) (*messaging.Service, error) {
	return messaging.New(ctx, db, &messaging.Options{
		Providers: []provider.Provider{cloud.New(&cloud.Options{GraphURL: graphURL}), sandbox.New()},
		Secrets:   []string{secret}, OnMessage: reply, Exclusive: true,
	})
}

// reply answers a message of a contact.
func reply(ctx context.Context, m messaging.Message, to *messaging.Replier) error {
	return to.Text(ctx, answer(m.Text))
}
