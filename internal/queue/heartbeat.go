package queue

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// heartbeats says that the nodes of this process are alive, of all queues of a
// database with one statement.
type heartbeats struct {
	db *database.DB

	writing sync.Mutex // held while a heartbeat is written

	mu    sync.Mutex
	nodes []*keeper
	stop  context.CancelFunc // of the loop
}

type heartbeatsKey struct{}

func heartbeatsOf(db *database.DB) *heartbeats {
	return db.Value(heartbeatsKey{}, func() any { return &heartbeats{db: db} }).(*heartbeats)
}

// add keeps a node alive until remove.
func (h *heartbeats) add(ctx context.Context, k *keeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes = append(h.nodes, k)
	if h.stop == nil {
		loop, stop := context.WithCancel(context.WithoutCancel(ctx))
		h.stop = stop
		go h.run(loop)
	}
}

// remove ends a node, and with the last one the loop. No heartbeat of the node is
// written after it returns.
func (h *heartbeats) remove(k *keeper) {
	h.mu.Lock()
	h.nodes = slices.DeleteFunc(h.nodes, func(o *keeper) bool { return o == k })
	if len(h.nodes) == 0 && h.stop != nil {
		h.stop()
		h.stop = nil
	}
	h.mu.Unlock()
	h.writing.Lock() // waits for the one that is being written
	defer h.writing.Unlock()
}

func (h *heartbeats) run(ctx context.Context) {
	for await(ctx, heartbeatOf(expiryOf(h.db))) {
		h.writeAll(ctx)
	}
}

// writeAll says that all nodes are alive.
func (h *heartbeats) writeAll(ctx context.Context) {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.mu.Lock()
	nodes := slices.Clone(h.nodes)
	h.mu.Unlock()
	started := time.Now()
	err := h.write(ctx, nodes...)
	for _, k := range nodes {
		if err == nil {
			k.noteHeartbeat(started)
		} else if ctx.Err() == nil {
			k.log.WarnContext(ctx, "keeping a node alive failed", "task", "heartbeat", "error", err)
		}
	}
}

// write says that nodes are alive.
func (h *heartbeats) write(ctx context.Context, nodes ...*keeper) error {
	if len(nodes) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(database.Routine(ctx), sweepTimeout)
	defer cancel()
	rows := database.Rows{
		Before: `INSERT INTO queue_node (id, queue, seen_us) SELECT v.column1, v.column2, ` + nodes[0].sql.text("{seen}") + ` FROM (`,
		After:  `) AS v WHERE true ON CONFLICT (id) DO UPDATE SET seen_us = excluded.seen_us`,
		Types:  []string{"TEXT", "TEXT"},
	}
	nodes = slices.SortedFunc(slices.Values(nodes), func(a, b *keeper) int { return strings.Compare(a.id, b.id) }) // all lock them in this order
	for _, k := range nodes {
		rows.Values = append(rows.Values, k.id, k.o.Name)
	}
	return h.db.Write(ctx, func(tx *database.Tx) error { return h.db.ExecRows(ctx, tx, rows) })
}
