package messaging

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Tx is a transaction of the caller on the database of this package: a [*sql.Tx],
// a [*sqlx.Tx], or what another library builds on them. What a method that ends in
// Tx writes takes effect when it commits.
type Tx = database.Executor

// Sink takes part in the transaction that makes events. EventsTx must only
// write rows: an error undoes the transaction, and the event with it.
type Sink interface {
	EventsTx(ctx context.Context, tx Tx, evs []Event) error
}

// ChatSink is a [Sink] that is told who may answer in a chat. ChatsTx must
// only write rows: an error undoes what has changed. The chats are locked, and
// events of the same transaction follow.
type ChatSink interface {
	ChatsTx(ctx context.Context, tx Tx, news []ChatUpdate) error
}

// publishEvents gives the sinks the events of a transaction.
func (s *Service) publishEvents(ctx context.Context, tx *database.Tx, events []Event) error {
	for _, k := range s.opts.Sinks {
		if err := k.EventsTx(ctx, tx, events); err != nil {
			return fmt.Errorf("telling %T: %w", k, err)
		}
	}
	return nil
}

// publishChats tells the sinks what has become of chats.
func (s *Service) publishChats(ctx context.Context, tx *database.Tx, updates []ChatUpdate) error {
	for _, k := range s.opts.Sinks {
		sink, ok := k.(ChatSink)
		if !ok {
			continue
		}
		if err := sink.ChatsTx(ctx, tx, updates); err != nil {
			return fmt.Errorf("telling %T: %w", k, err)
		}
	}
	return nil
}
