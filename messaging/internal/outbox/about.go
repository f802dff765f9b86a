package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// aboutOf is what is known of the message that content is about, or that a job
// answers; nil when it names none, or none that is stored.
func (s *Sender) aboutOf(ctx context.Context, j *job, content provider.Content) (*provider.About, error) {
	id := cmp.Or(Target(content), j.ReplyTo)
	if id == "" {
		return nil, nil
	}
	var m store.Message
	err := s.Store.DB.GetContext(ctx, &m, `SELECT `+store.MessageColumns+store.MessageFrom+`WHERE m.reference = $1 AND m.id = $2`, j.Reference, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what a message is about: %w", err)
	}
	about := about(&m, j.chat)
	return &about, nil
}

// about is what a network may want to know of m when something else is about it.
func about(m *store.Message, c *store.Chat) provider.About {
	b := m.View(c).Body
	a := provider.About{Mine: m.Mine, Text: cmp.Or(b.Text, b.Caption)}
	if b.Participant != nil {
		a.From = b.Participant.RemoteJID
	}
	return a
}
