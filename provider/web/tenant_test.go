package web_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestTenants has two references in one database see the same hidden id, of which
// one knows the number: the other does not learn it, nor after a restart.
func TestTenants(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		knows, other := paired(t, db), paired(t, db)
		eve := fake.AddPhone(&webtest.PhoneOptions{Hidden: true})
		_, err := knows.owner.ShareMappings(soon(t), knows.device, eve)
		require.NoError(t, err)
		require.Equal(t, eve.JID().User, knows.says(t, eve, textMessage("to whom knows me")).Chat.Phone)

		hidden := provider.Address{ChatID: eve.LID().User + "@lid", LID: eve.LID().User}
		for range 2 {
			m := other.says(t, eve, textMessage("to a stranger"))
			require.Equal(t, hidden, m.Chat)
			require.Equal(t, hidden, m.From.Address)
			r, err := other.session.Send(soon(t), provider.Outbound{
				ID: other.p.NewMessageID(), To: m.Chat, Content: provider.Text{Text: "who are you?"},
			})
			require.NoError(t, err)
			require.Equal(t, hidden, *r.To)
			call := eve.Calls().Ring(other.owner.LID(), false)
			require.Equal(t, hidden, await(t, other.inbox, func(c *provider.Call) bool { return c.CallID == call.ID }).Chat)
			stated := strings.ReplaceAll(other.inbox.all(), eve.LID().User, "") // which has the number in it, here
			require.NotContains(t, stated, eve.JID().User)
			other.close(t)
			knows.close(t)
			knows.open(t)
			other.open(t)
			knows.inbox.state(t, provider.Connected)
			other.inbox.state(t, provider.Connected)
		}
		require.Equal(t, eve.JID().User, knows.says(t, eve, textMessage("again")).Chat.Phone)
		var shared int
		require.NoError(t, db.Get(&shared, `SELECT count(*) FROM whatsmeow_lid_map`))
		require.Zero(t, shared, "whatsmeow's own map is one for all")
	})
}

// all is everything that was stored, as text.
func (in *inbox) all() (out string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.events {
		out += fmt.Sprintf("%+v\n", e)
	}
	return out
}

// TestManyAtOnce has references in one SQLite file receive and write at once, beside
// another that writes through the gate: nothing is lost, and none finds the
// database busy.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const refs, each = 20, 10
	db := testkit.Open(t, testkit.SQLiteURL(t))
	fs := make([]*fixture, refs)
	var wg sync.WaitGroup
	for i := range fs {
		fs[i] = newReference(t, db, nil)
		fs[i].open(t)
	}
	for _, f := range fs {
		wg.Go(func() { f.link(t) })
	}
	wg.Wait()
	for _, f := range fs {
		wg.Go(func() {
			ana := fake.AddPhone(nil)
			for n := range each {
				_, err := ana.SendText(soon(t), f.owner.LID(), fmt.Sprint(n))
				assert.NoError(t, err)
				_, err = f.session.Send(soon(t), provider.Outbound{
					ID: f.p.NewMessageID(), To: f.number(t, ana), Content: provider.Text{Text: fmt.Sprint("answer ", n)},
				})
				assert.NoError(t, err)
			}
			assert.NoError(t, f.device.AwaitIdle(soon(t)))
		})
	}
	wg.Wait()
	for _, f := range fs {
		require.Len(t, f.inbox.texts(), each)
		require.Len(t, f.device.Logins(), 1, "no connection was given up")
	}
}
