package messaging_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
)

// TestAbout tells a network what it may want to know of the message that is
// answered: whose it is, and what it says.
func TestAbout(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		group := provider.Address{ChatID: "120@g.us", Group: true}
		wrote := func(id string, chat, who provider.Address) {
			f.receive(t, ref, &provider.Message{
				ID: id, Chat: chat, From: provider.Contact{Address: who}, At: epoch, Content: provider.Text{Text: "said " + id},
			})
		}
		ana := provider.Address{ChatID: "111", Phone: "111"}
		wrote("in.1", ana, ana)
		wrote("in.2", group, provider.Address{ChatID: "222@lid", LID: "222"})
		req := say(ref, "to ana")
		own := f.send(t, req)
		for id, want := range map[string]*provider.About{
			"in.1": {Text: "said in.1"},
			"in.2": {Text: "said in.2", From: "222::single"},
			own.ID: {Text: "to ana", Mine: true},
		} {
			req = say(ref, "about "+id)
			req.ReplyTo = id
			if id == "in.2" {
				req.ChatID = group.ChatID
			}
			f.send(t, req)
			sent := f.net.attempts()
			require.Equal(t, want, sent[len(sent)-1].About, id)
		}
	})
}
