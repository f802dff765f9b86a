package connection

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// rateLookback is how far back the rates of networks look.
	rateLookback = 5 * time.Minute
	// maxQueuedAge is how long a message that left lately has waited at most to be
	// found. Ids of ours are read in the order of time, and have an index.
	maxQueuedAge = time.Hour
)

// sentRecords are the messages that left a reference lately, the oldest first.
func (m *Manager) sentRecords(ctx context.Context, ref provider.ReferenceID) ([]provider.SentRecord, error) {
	var rows []struct {
		store.Chat
		SentUS int64 `db:"sent_us"`
	}
	err := m.Store.DB.SelectContext(ctx, &rows, `SELECT `+store.ChatColumns+`, o.sent_us FROM messaging_outbound o
		JOIN messaging_message m ON m.seq = o.message JOIN messaging_chat c ON c.id = m.chat
		WHERE o.reference = $1 AND o.own_id > $2 AND o.sent_us > $3 ORDER BY o.sent_us`,
		ref, ownIDAt(m.Store.Now().Add(-maxQueuedAge)), database.Micros(m.Store.Now().Add(-rateLookback)))
	if err != nil {
		return nil, fmt.Errorf("finding what left lately: %w", err)
	}
	out, now := make([]provider.SentRecord, len(rows)), m.Store.Now()
	for i := range rows {
		out[i] = provider.SentRecord{To: rows[i].Address(), Ago: max(now.Sub(database.Time(rows[i].SentUS)), 0)}
	}
	return out, nil
}

// ownIDAt is below all ids of ours that are made at a time and later.
func ownIDAt(at time.Time) string {
	ms := at.UnixMilli()
	return fmt.Sprintf("out-%08x-%04x-", ms>>16, ms&0xffff)
}
