package store

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/provider"
)

// StreamTopic wakes the subscribers of the stream.
const StreamTopic = "messaging feed"

const (
	// StreamTTL is how long entries of the stream can be read.
	StreamTTL = 24 * time.Hour
	// StreamRetention is how long they are kept: a position that is just young
	// enough must not lose what comes after it.
	StreamRetention = StreamTTL + time.Hour
)

// StreamRow is an entry as its table has it.
type StreamRow struct {
	ID        int64                `db:"id"`
	TxID      int64                `db:"txid"`
	Account   string               `db:"account"`
	Reference provider.ReferenceID `db:"reference"`
	Kind      string               `db:"kind"`
	Data      string               `db:"data"`
	CreatedUS int64                `db:"created_us"`
}

const insertStream = `INSERT INTO messaging_change (account, reference, kind, data, created_us)`

var streamTypes = []string{"TEXT", "BIGINT", "TEXT", "TEXT", "BIGINT"}

func (u *Batch) writeStream(ctx context.Context) error {
	if len(u.stream) == 0 {
		return nil
	}
	now := database.Micros(u.Now)
	var rows [][]any
	for _, f := range u.stream {
		rows = append(rows, []any{f.Account, f.Reference, f.Kind, text.Sanitize(f.Data), now})
	}
	if err := u.Insert(ctx, insertStream, streamTypes, rows, ""); err != nil {
		return fmt.Errorf("writing the stream: %w", err)
	}
	u.Tx.NotifyAfter(StreamTopic)
	return nil
}
