package connection

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

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// leaseTTL is how long a node owns a reference without renewing its lease.
	// When a node dies, its references are free after this time.
	leaseTTL = 8 * time.Second
	// leaseMargin is how long before that a node lets go which could not say so.
	leaseMargin        = 2 * time.Second
	heartbeatInterval  = 2 * time.Second
	leaseWatchInterval = 500 * time.Millisecond
	// maxLeasesAtOnce bounds the references that a node takes at once: others want some.
	maxLeasesAtOnce = 100
	leaseTopic      = "messaging_lease"
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
	manager *Manager
	node    string
	born    time.Time

	mu          sync.Mutex
	connections map[provider.ReferenceID]*leasedConnection
	elsewhere   map[provider.ReferenceID]bool // leased by other nodes, or by none yet

	looked time.Duration                             // age at the last heartbeat; of run
	silent clockstep.Sightings[provider.ReferenceID] // leases that are not renewed; likewise

	working sync.WaitGroup
}

// leaseRow is a reference as messaging_lease has it.
type leaseRow struct {
	Reference provider.ReferenceID `db:"reference"`
	Kind      provider.Kind        `db:"kind"`
	Desired   string               `db:"desired"`
	Phone     string               `db:"phone"`
	Asked     int64                `db:"asked"`
	Node      string               `db:"node"`
	Fence     int64                `db:"fence"`
	UntilUS   int64                `db:"until_us"`
	Free      bool                 `db:"free"`     // it may be taken
	Revision  int64                `db:"revision"` // of the reference; -1: it is deleted
}

func newLeases(m *Manager) *leases {
	host, _ := os.Hostname() // a name for people; what follows makes it unique
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return &leases{
		manager: m, node: text.Truncate(text.Sanitize(cmp.Or(host, "node")), render.MaxTextLength) + "-" + hex.EncodeToString(id), born: time.Now(),
		connections: map[provider.ReferenceID]*leasedConnection{}, elsewhere: map[provider.ReferenceID]bool{},
		silent: clockstep.Sightings[provider.ReferenceID]{Rounds: sightings, For: silence},
	}
}

// run maintains leases until ctx ends; then it closes the connections and
// releases their leases.
func (ls *leases) run(ctx context.Context) error {
	if !ls.anyKind() {
		return nil
	}
	freed := !ls.manager.Exclusive // else the leases of a killed predecessor are to be freed
	defer ls.close(context.WithoutCancel(ctx))
	changed := ls.manager.Store.DB.Listen(ctx, leaseTopic)
	exist := ls.manager.Store.DB.Due(ctx, "", func(first int, _ time.Duration) (string, []any) { // while there are none, all that is to be known
		return fmt.Sprintf(`SELECT 1 FROM messaging_lease WHERE CAST($%d AS BIGINT) = 0`, first), []any{ls.known()}
	})
	heartbeat, watch := time.NewTicker(heartbeatInterval), time.NewTicker(leaseWatchInterval)
	defer heartbeat.Stop()
	defer watch.Stop()
	for {
		var err error
		if !freed {
			err = ls.release(ctx, `node <> ''`)
			freed = err == nil
		}
		if freed {
			err = ls.heartbeat(ctx)
		}
		if err != nil && ctx.Err() == nil {
			ls.manager.Logger.WarnContext(ctx, "leasing references", slog.Any("error", err))
		}
		for due := false; !due; {
			select {
			case <-ctx.Done():
				return nil
			case <-watch.C:
				ls.dropExpired()
			case <-heartbeat.C:
				due = !ls.none(exist)
			case <-changed:
				due = true
			}
		}
	}
}

// none reports whether no reference is a connection. Exist has a value while there
// are rows of leases.
func (ls *leases) none(exist <-chan struct{}) bool {
	select {
	case <-exist:
		return false
	default:
	}
	return ls.known() == 0
}

// known returns the number of references that are connections.
func (ls *leases) known() int {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.connections) + len(ls.elsewhere)
}

func (ls *leases) anyKind() bool {
	for k := range ls.manager.Store.Kinds {
		if ls.manager.Store.Connects(k) {
			return true
		}
	}
	return false
}

// heartbeat renews the leases of this node, takes references that are free and
// does what is desired of each.
func (ls *leases) heartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(database.Routine(ctx), leaseTTL-leaseMargin)
	defer cancel()
	started := ls.age()
	rows, err := ls.readLeases(ctx)
	if err != nil {
		return err
	}
	rows, err = ls.renew(ctx, rows)
	if err != nil {
		return err
	}
	mine := map[provider.ReferenceID]bool{}
	for _, r := range rows {
		if r.Node == ls.node {
			mine[r.Reference] = true
			ls.keepLease(r, started+leaseTTL-leaseMargin)
		}
	}
	for _, l := range ls.lost(rows, mine) {
		ls.lose(l)
	}
	return nil
}

// readLeases reads the references that are leased or desired.
func (ls *leases) readLeases(ctx context.Context) ([]leaseRow, error) {
	var rows []leaseRow
	err := ls.manager.Store.DB.SelectContext(ctx, &rows, ls.completeQuery(`SELECT h.reference, h.kind, h.desired, h.phone, h.asked, h.node, h.fence,
		h.until_us, h.until_us <= {now} AS free, COALESCE(r.revision, -1) AS revision
		FROM messaging_lease h LEFT JOIN messaging_reference r ON r.id = h.reference ORDER BY h.until_us`))
	if err != nil {
		return nil, fmt.Errorf("reading the leases of references: %w", err)
	}
	ls.sight(rows)
	return rows, nil
}

// renew renews the leases of this node and takes references that are free. It
// changes rows to what they are now.
func (ls *leases) renew(ctx context.Context, rows []leaseRow) ([]leaseRow, error) {
	var mine, free []int64
	for _, r := range rows {
		switch {
		case r.Node == ls.node && !ls.manager.Exclusive:
			mine = append(mine, int64(r.Reference))
		case r.Node != ls.node && r.Free && ls.manager.Store.Connects(r.Kind) && len(free) < maxLeasesAtOnce:
			free = append(free, int64(r.Reference))
		}
	}
	if len(mine)+len(free) == 0 {
		return rows, nil
	}
	deferred := map[provider.ReferenceID]int64{}
	err := ls.manager.Store.DB.WriteLazy(ctx, func(tx *database.Tx) error {
		clear(deferred)
		err := ls.extend(ctx, tx, deferred, `UPDATE messaging_lease SET until_us = {now} + $1 WHERE node = $2`, mine)
		if err != nil {
			return err
		}
		return ls.extend(ctx, tx, deferred, `UPDATE messaging_lease SET until_us = {now} + $1, node = $2, fence = fence + 1 WHERE until_us <= {now}`, free)
	})
	if err != nil {
		return nil, fmt.Errorf("taking leases of references: %w", err)
	}
	for i := range rows {
		r := &rows[i]
		fence, ok := deferred[r.Reference]
		switch {
		case ok:
			r.Node, r.Fence = ls.node, fence
		case r.Node == ls.node && !ls.manager.Exclusive:
			r.Node = "" // taken meanwhile
		}
	}
	return rows, nil
}

func (ls *leases) extend(ctx context.Context, tx *database.Tx, deferred map[provider.ReferenceID]int64, update string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	in, args := ls.manager.Store.DB.Dialect.InNumbers("reference", 3, ids)
	var rows []leaseRow
	err := tx.SelectContext(ctx, &rows, ls.completeQuery(update+` AND `+in+` RETURNING reference, fence`), append([]any{leaseTTL.Microseconds(), ls.node}, args...)...)
	for _, r := range rows {
		deferred[r.Reference] = r.Fence
	}
	return err
}

// completeQuery completes a query: {now} is the database's clock, on which all nodes
// agree.
func (ls *leases) completeQuery(q string) string {
	return strings.ReplaceAll(q, "{now}", ls.manager.Store.DB.Dialect.Now())
}

// age is how long this process has run, by the clock that never leaps. It goes
// on while the process is stopped.
func (ls *leases) age() time.Duration { return time.Since(ls.born) }

// keepLease records that this node leases a reference, and does what is desired
// of it.
func (ls *leases) keepLease(r leaseRow, until time.Duration) {
	ls.mu.Lock()
	l := ls.connections[r.Reference]
	if l != nil && l.fence != r.Fence {
		ls.mu.Unlock()
		ls.lose(l)
		ls.mu.Lock()
		l = nil
	}
	if l == nil {
		l = &leasedConnection{leases: ls, id: r.Reference, kind: r.Kind, fence: r.Fence}
		ls.connections[r.Reference] = l
	}
	ls.mu.Unlock()
	if ls.manager.Exclusive {
		until = time.Duration(never)
	}
	l.until.Store(int64(until))
	l.reconcile(r)
}

// lost returns the connections whose leases this node has lost. It records which
// references other nodes lease.
func (ls *leases) lost(rows []leaseRow, mine map[provider.ReferenceID]bool) []*leasedConnection {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	clear(ls.elsewhere)
	for _, r := range rows {
		parked := r.Node == "" && !r.Free
		if !mine[r.Reference] && r.Desired == desiredConnected && !parked {
			ls.elsewhere[r.Reference] = true
		}
	}
	var lost []*leasedConnection
	for id, l := range ls.connections {
		if !mine[id] {
			lost = append(lost, l)
		}
	}
	return lost
}

// dropExpired lets go of references that this node could not keep in time.
func (ls *leases) dropExpired() {
	ls.mu.Lock()
	var lost []*leasedConnection
	for _, l := range ls.connections {
		if !l.valid() {
			lost = append(lost, l)
		}
	}
	ls.mu.Unlock()
	for _, l := range lost {
		ls.manager.Logger.Warn("a reference is closed: its lease was not renewed in time", "reference", l.id)
		ls.lose(l)
	}
}

// lose closes a reference that belongs to another node, or to none.
func (ls *leases) lose(l *leasedConnection) {
	l.until.Store(0)
	ls.mu.Lock()
	if ls.connections[l.id] == l {
		delete(ls.connections, l.id)
	}
	ls.mu.Unlock()
	ls.working.Go(func() { l.close(context.Background()) })
}

// close closes all references and hands them over to other nodes.
func (ls *leases) close(ctx context.Context) {
	ls.mu.Lock()
	for _, l := range ls.connections {
		ls.working.Go(func() { l.close(ctx) })
	}
	ls.mu.Unlock()
	ls.working.Wait()
	ctx, cancel := context.WithTimeout(ctx, CloseTimeout)
	defer cancel()
	if err := ls.release(ctx, `node = $1`, ls.node); err != nil {
		ls.manager.Logger.WarnContext(ctx, "handing over references", slog.Any("error", err))
	}
}

// release lets other nodes take references at once.
func (ls *leases) release(ctx context.Context, where string, args ...any) error {
	err := ls.manager.Store.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_lease SET node = '', until_us = 0 WHERE `+where, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("handing over references: %w", err)
	}
	ls.manager.Store.DB.Notify(leaseTopic)
	return nil
}

// serves reports whether this node may work for a reference: it is no connection, or
// is open here.
func (ls *leases) serves(id provider.ReferenceID) bool {
	ls.mu.Lock()
	l, away := ls.connections[id], ls.elsewhere[id]
	ls.mu.Unlock()
	return !away && (l == nil || l.open() != nil)
}

// session is the open session of a reference that is a connection.
func (ls *leases) session(id provider.ReferenceID) (provider.Session, error) {
	ls.mu.Lock()
	l := ls.connections[id]
	ls.mu.Unlock()
	if l != nil {
		if sess := l.open(); sess != nil {
			return sess, nil
		}
	}
	return nil, refusal.ErrNotHere
}
