package messaging

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// leaseTTL is how long a node holds a reference without saying so again. Who
	// dies loses its lines after it.
	leaseTTL = 8 * time.Second
	// leaseMargin is how long before that a node lets go which could not say so.
	leaseMargin        = 2 * time.Second
	heartbeatInterval  = 2 * time.Second
	leaseWatchInterval = 500 * time.Millisecond
	// maxLeasesAtOnce bounds the references that a node takes at once: others want some.
	maxLeasesAtOnce = 100
	leaseTopic      = "messaging_hold"
)

// What is to become of a reference that is a connection.
const (
	desiredConnected = "connect"
	desiredUnlinked  = "unlink" // end the pairing, then forget
	desiredForgotten = "forget"
)

// leases are the references of this node that are connections: those of a
// [provider.Connector]. One node at a time has such a reference.
type leases struct {
	s    *Service
	node string
	born time.Time

	mu          sync.Mutex
	connections map[provider.ReferenceID]*leasedConnection
	elsewhere   map[provider.ReferenceID]bool // held by others, or by nobody yet

	working sync.WaitGroup
}

// leaseRow is a reference as messaging_hold has it.
type leaseRow struct {
	Reference provider.ReferenceID `db:"reference"`
	Kind      provider.Kind        `db:"kind"`
	Desired   string               `db:"wish"`
	Phone     string               `db:"phone"`
	Asked     int64                `db:"asked"`
	Node      string               `db:"node"`
	Fence     int64                `db:"fence"`
	Free      bool                 `db:"free"`
	Revision  int64                `db:"revision"` // of the reference; -1: it is deleted
}

func newLeases(s *Service) *leases {
	host, _ := os.Hostname() // a name for people; what follows makes it unique
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return &leases{
		s: s, node: sanitize.Truncate(store.Sanitize(cmp.Or(host, "node")), render.MaxTextLength) + "-" + hex.EncodeToString(id), born: time.Now(),
		connections: map[provider.ReferenceID]*leasedConnection{}, elsewhere: map[provider.ReferenceID]bool{},
	}
}

// connects reports whether a kind's lines are connections.
func (s *Service) connects(k provider.Kind) bool {
	_, ok := s.kinds[k].(provider.Connector)
	return ok
}

// run holds lines until ctx ends; then it closes them and hands them over.
func (h *leases) run(ctx context.Context) error {
	if !h.anyKind() {
		return nil
	}
	if h.s.opts.Exclusive { // what a killed predecessor held is free
		if err := h.release(ctx, `node <> ''`); err != nil {
			return err
		}
	}
	defer h.close(context.WithoutCancel(ctx))
	wake := h.s.db.Listen(ctx, leaseTopic)
	beat, watch := time.NewTicker(heartbeatInterval), time.NewTicker(leaseWatchInterval)
	defer beat.Stop()
	defer watch.Stop()
	for {
		if err := h.heartbeat(ctx); err != nil && ctx.Err() == nil {
			h.s.opts.Logger.WarnContext(ctx, "holding lines", slog.Any("error", err))
		}
		for due := false; !due; {
			select {
			case <-ctx.Done():
				return nil
			case <-watch.C:
				h.dropExpired()
			case <-beat.C:
				due = true
			case <-wake:
				due = true
			}
		}
	}
}

func (h *leases) anyKind() bool {
	for k := range h.s.kinds {
		if h.s.connects(k) {
			return true
		}
	}
	return false
}

// heartbeat says which lines this node still holds, takes those that are free and
// does what is desired of each.
func (h *leases) heartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseTTL-leaseMargin)
	defer cancel()
	begun := h.age()
	rows, err := h.readLeases(ctx)
	if err != nil {
		return err
	}
	rows, err = h.renew(ctx, rows)
	if err != nil {
		return err
	}
	mine := map[provider.ReferenceID]bool{}
	for _, r := range rows {
		if r.Node == h.node {
			mine[r.Reference] = true
			h.keepLease(r, begun+leaseTTL-leaseMargin)
		}
	}
	for _, l := range h.lost(rows, mine) {
		h.lose(l)
	}
	return nil
}

// readLeases reads the references that are held or wanted.
func (h *leases) readLeases(ctx context.Context) ([]leaseRow, error) {
	var rows []leaseRow
	err := h.s.db.SelectContext(ctx, &rows, h.completeQuery(`SELECT h.reference, h.kind, h.wish, h.phone, h.asked, h.node, h.fence,
		h.until_us <= {now} AS free, COALESCE(r.revision, -1) AS revision
		FROM messaging_hold h LEFT JOIN messaging_reference r ON r.id = h.reference ORDER BY h.until_us`))
	if err != nil {
		return nil, fmt.Errorf("reading who holds lines: %w", err)
	}
	return rows, nil
}

// renew renews the leases of this node and takes lines that are free. It changes
// rows to what they are now.
func (h *leases) renew(ctx context.Context, rows []leaseRow) ([]leaseRow, error) {
	var mine, free []int64
	for _, r := range rows {
		switch {
		case r.Node == h.node && !h.s.opts.Exclusive:
			mine = append(mine, int64(r.Reference))
		case r.Node != h.node && r.Free && h.s.connects(r.Kind) && len(free) < maxLeasesAtOnce:
			free = append(free, int64(r.Reference))
		}
	}
	if len(mine)+len(free) == 0 {
		return rows, nil
	}
	held := map[provider.ReferenceID]int64{}
	err := h.s.db.WriteLazy(ctx, func(tx *sqlx.Tx) error {
		clear(held)
		err := h.extend(tx, held, `UPDATE messaging_hold SET until_us = {now} + $1 WHERE node = $2`, mine)
		if err != nil {
			return err
		}
		return h.extend(tx, held, `UPDATE messaging_hold SET until_us = {now} + $1, node = $2, fence = fence + 1 WHERE until_us <= {now}`, free)
	})
	if err != nil {
		return nil, fmt.Errorf("taking lines: %w", err)
	}
	for i := range rows {
		r := &rows[i]
		fence, ok := held[r.Reference]
		switch {
		case ok:
			r.Node, r.Fence = h.node, fence
		case r.Node == h.node && !h.s.opts.Exclusive:
			r.Node = "" // taken meanwhile
		}
	}
	return rows, nil
}

func (h *leases) extend(tx *sqlx.Tx, held map[provider.ReferenceID]int64, update string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	in, args := h.s.db.Dialect.InNumbers("reference", 3, ids)
	var rows []leaseRow
	err := tx.Select(&rows, h.completeQuery(update+` AND `+in+` RETURNING reference, fence`), append([]any{leaseTTL.Microseconds(), h.node}, args...)...)
	for _, r := range rows {
		held[r.Reference] = r.Fence
	}
	return err
}

// completeQuery completes a query: {now} is the database's clock, on which all nodes
// agree.
func (h *leases) completeQuery(q string) string {
	now := `CAST(unixepoch('subsec') * 1000000 AS BIGINT)`
	if h.s.db.Dialect == database.Postgres {
		now = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`
	}
	return strings.ReplaceAll(q, "{now}", now)
}

// age is how long this process has run, by the clock that never leaps. It goes
// on while the process is stopped.
func (h *leases) age() time.Duration { return time.Since(h.born) }

// keepLease notes that this node holds a reference, and does what is wished of it.
func (h *leases) keepLease(r leaseRow, until time.Duration) {
	h.mu.Lock()
	l := h.connections[r.Reference]
	if l != nil && l.fence != r.Fence {
		h.mu.Unlock()
		h.lose(l)
		h.mu.Lock()
		l = nil
	}
	if l == nil {
		l = &leasedConnection{leases: h, id: r.Reference, kind: r.Kind, fence: r.Fence}
		h.connections[r.Reference] = l
	}
	h.mu.Unlock()
	if h.s.opts.Exclusive {
		until = time.Duration(never)
	}
	l.until.Store(int64(until))
	l.reconcile(r)
}

// lost are the references that this node held and does not any more. It notes
// which are with others.
func (h *leases) lost(rows []leaseRow, mine map[provider.ReferenceID]bool) []*leasedConnection {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.elsewhere)
	for _, r := range rows {
		parked := r.Node == "" && !r.Free
		if !mine[r.Reference] && r.Desired == desiredConnected && !parked {
			h.elsewhere[r.Reference] = true
		}
	}
	var lost []*leasedConnection
	for id, l := range h.connections {
		if !mine[id] {
			lost = append(lost, l)
		}
	}
	return lost
}

// dropExpired lets go of references that this node could not keep in time.
func (h *leases) dropExpired() {
	h.mu.Lock()
	var lost []*leasedConnection
	for _, l := range h.connections {
		if !l.valid() {
			lost = append(lost, l)
		}
	}
	h.mu.Unlock()
	for _, l := range lost {
		h.s.opts.Logger.Warn("a line was not kept in time", "reference", l.id)
		h.lose(l)
	}
}

// lose closes a reference that belongs to another node, or to nobody.
func (h *leases) lose(l *leasedConnection) {
	l.until.Store(0)
	h.mu.Lock()
	if h.connections[l.id] == l {
		delete(h.connections, l.id)
	}
	h.mu.Unlock()
	h.working.Go(func() { l.close(context.Background()) })
}

// close closes all references and hands them over to other nodes.
func (h *leases) close(ctx context.Context) {
	h.mu.Lock()
	for _, l := range h.connections {
		h.working.Go(func() { l.close(ctx) })
	}
	h.mu.Unlock()
	h.working.Wait()
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := h.release(ctx, `node = $1`, h.node); err != nil {
		h.s.opts.Logger.WarnContext(ctx, "handing over lines", slog.Any("error", err))
	}
}

// release lets others take lines at once.
func (h *leases) release(ctx context.Context, where string, args ...any) error {
	err := h.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`UPDATE messaging_hold SET node = '', until_us = 0 WHERE `+where, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("handing over lines: %w", err)
	}
	h.s.db.Wake(leaseTopic)
	return nil
}

// serves reports whether this node may work for a reference: it is no connection, or
// is open here.
func (h *leases) serves(id provider.ReferenceID) bool {
	h.mu.Lock()
	l, away := h.connections[id], h.elsewhere[id]
	h.mu.Unlock()
	return !away && (l == nil || l.open() != nil)
}

// session is the open session of a reference that is a connection.
func (h *leases) session(id provider.ReferenceID) (provider.Session, error) {
	h.mu.Lock()
	l := h.connections[id]
	h.mu.Unlock()
	if l != nil {
		if sess := l.open(); sess != nil {
			return sess, nil
		}
	}
	return nil, refusal.ErrNotHere
}
