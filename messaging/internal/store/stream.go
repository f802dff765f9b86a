package store

import (
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

// changes writes the entries of the stream.
func (u *Batch) changes() database.Rows {
	now := database.Micros(u.Now)
	var values []any
	for _, f := range u.stream {
		values = append(values, f.Account, f.Reference, f.Kind, text.Sanitize(f.Data), now)
	}
	if len(values) > 0 {
		u.Tx.NotifyAfter(StreamTopic)
	}
	return database.Rows{Before: insertStream + " ", Types: streamTypes, Values: values}
}
