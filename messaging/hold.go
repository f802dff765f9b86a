package messaging

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// holdLease is how long a node holds a line without saying so again. Who
	// dies loses its lines after it.
	holdLease = 8 * time.Second
	// holdMargin is how long before that a node lets go which could not say so.
	holdMargin = 2 * time.Second
	holdBeat   = 2 * time.Second
	holdWatch  = 500 * time.Millisecond
	// holdBatch bounds the lines that a node takes at once: others want some.
	holdBatch = 100
	holdTopic = "messaging_hold"
)

// What is to become of a line that is a connection.
const (
	wishConnect = "connect"
	wishUnlink  = "unlink" // end the pairing, then forget
	wishForget  = "forget"
)

// holds are the lines of this node that are connections: those of a
// [provider.Connector]. One node at a time has such a line.
type holds struct {
	s    *Service
	node string
	born time.Time

	mu    sync.Mutex
	lines map[provider.ReferenceID]*heldLine
	away  map[provider.ReferenceID]bool // held by others, or by nobody yet

	working sync.WaitGroup
}

// holdRow is a line as messaging_hold has it.
type holdRow struct {
	Reference provider.ReferenceID `db:"reference"`
	Kind      provider.Kind        `db:"kind"`
	Wish      string               `db:"wish"`
	Phone     string               `db:"phone"`
	Asked     int64                `db:"asked"`
	Node      string               `db:"node"`
	Fence     int64                `db:"fence"`
	Free      bool                 `db:"free"`
	Revision  int64                `db:"revision"` // of the reference; -1: it is deleted
}

func newHolds(s *Service) *holds {
	host, _ := os.Hostname() // a name for people; what follows makes it unique
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return &holds{
		s: s, node: cut(clean(cmp.Or(host, "node")), longest) + "-" + hex.EncodeToString(id), born: time.Now(),
		lines: map[provider.ReferenceID]*heldLine{}, away: map[provider.ReferenceID]bool{},
	}
}

// connects reports whether a kind's lines are connections.
func (s *Service) connects(k provider.Kind) bool {
	_, ok := s.kinds[k].(provider.Connector)
	return ok
}

// run holds lines until ctx ends; then it closes them and hands them over.
func (h *holds) run(ctx context.Context) error {
	if !h.anyKind() {
		return nil
	}
	if h.s.opts.Exclusive { // what a killed predecessor held is free
		if err := h.release(ctx, `node <> ''`); err != nil {
			return err
		}
	}
	defer h.end(context.WithoutCancel(ctx))
	wake := h.s.db.Listen(ctx, holdTopic)
	beat, watch := time.NewTicker(holdBeat), time.NewTicker(holdWatch)
	defer beat.Stop()
	defer watch.Stop()
	for {
		if err := h.beat(ctx); err != nil && ctx.Err() == nil {
			h.s.opts.Logger.WarnContext(ctx, "holding lines", slogError(err))
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

func (h *holds) anyKind() bool {
	for k := range h.s.kinds {
		if h.s.connects(k) {
			return true
		}
	}
	return false
}

// beat says which lines this node still holds, takes those that are free and
// does what is wished of each.
func (h *holds) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, holdLease-holdMargin)
	defer cancel()
	begun := h.age()
	rows, err := h.look(ctx)
	if err != nil {
		return err
	}
	rows, err = h.take(ctx, rows)
	if err != nil {
		return err
	}
	mine := map[provider.ReferenceID]bool{}
	for _, r := range rows {
		if r.Node == h.node {
			mine[r.Reference] = true
			h.keep(r, begun+holdLease-holdMargin)
		}
	}
	for _, l := range h.notIn(rows, mine) {
		h.lose(l)
	}
	return nil
}

// look reads the lines that are held or wanted.
func (h *holds) look(ctx context.Context) ([]holdRow, error) {
	var rows []holdRow
	err := h.s.db.SelectContext(ctx, &rows, h.text(`SELECT h.reference, h.kind, h.wish, h.phone, h.asked, h.node, h.fence,
		h.until_us <= {now} AS free, COALESCE(r.revision, -1) AS revision
		FROM messaging_hold h LEFT JOIN messaging_reference r ON r.id = h.reference ORDER BY h.until_us`))
	if err != nil {
		return nil, fmt.Errorf("reading who holds lines: %w", err)
	}
	return rows, nil
}

// take renews the leases of this node and takes lines that are free. It changes
// rows to what they are now.
func (h *holds) take(ctx context.Context, rows []holdRow) ([]holdRow, error) {
	var mine, free []int64
	for _, r := range rows {
		switch {
		case r.Node == h.node && !h.s.opts.Exclusive:
			mine = append(mine, int64(r.Reference))
		case r.Node != h.node && r.Free && h.s.connects(r.Kind) && len(free) < holdBatch:
			free = append(free, int64(r.Reference))
		}
	}
	if len(mine)+len(free) == 0 {
		return rows, nil
	}
	held := map[provider.ReferenceID]int64{}
	err := h.s.db.WriteLazy(ctx, func(tx *sqlx.Tx) error {
		clear(held)
		err := h.lease(tx, held, `UPDATE messaging_hold SET until_us = {now} + $1 WHERE node = $2`, mine)
		if err != nil {
			return err
		}
		return h.lease(tx, held, `UPDATE messaging_hold SET until_us = {now} + $1, node = $2, fence = fence + 1 WHERE until_us <= {now}`, free)
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

func (h *holds) lease(tx *sqlx.Tx, held map[provider.ReferenceID]int64, update string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	in, args := h.s.db.Dialect.InNumbers("reference", 3, ids)
	var rows []holdRow
	err := tx.Select(&rows, h.text(update+` AND `+in+` RETURNING reference, fence`), append([]any{holdLease.Microseconds(), h.node}, args...)...)
	for _, r := range rows {
		held[r.Reference] = r.Fence
	}
	return err
}

// text completes a query: {now} is the database's clock, on which all nodes
// agree.
func (h *holds) text(q string) string {
	now := `CAST(unixepoch('subsec') * 1000000 AS BIGINT)`
	if h.s.db.Dialect == database.Postgres {
		now = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`
	}
	return strings.ReplaceAll(q, "{now}", now)
}

// age is how long this process has run, by the clock that never leaps. It goes
// on while the process is stopped.
func (h *holds) age() time.Duration { return time.Since(h.born) }

// keep notes that this node holds a line, and does what is wished of it.
func (h *holds) keep(r holdRow, until time.Duration) {
	h.mu.Lock()
	l := h.lines[r.Reference]
	if l != nil && l.fence != r.Fence {
		h.mu.Unlock()
		h.lose(l)
		h.mu.Lock()
		l = nil
	}
	if l == nil {
		l = &heldLine{h: h, id: r.Reference, kind: r.Kind, fence: r.Fence}
		h.lines[r.Reference] = l
	}
	h.mu.Unlock()
	if h.s.opts.Exclusive {
		until = time.Duration(never)
	}
	l.until.Store(int64(until))
	l.wish(r)
}

// notIn are the lines that this node held and does not any more. It notes
// which are with others.
func (h *holds) notIn(rows []holdRow, mine map[provider.ReferenceID]bool) []*heldLine {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.away)
	for _, r := range rows {
		parked := r.Node == "" && !r.Free
		if !mine[r.Reference] && r.Wish == wishConnect && !parked {
			h.away[r.Reference] = true
		}
	}
	var lost []*heldLine
	for id, l := range h.lines {
		if !mine[id] {
			lost = append(lost, l)
		}
	}
	return lost
}

// dropExpired lets go of lines that this node could not keep in time.
func (h *holds) dropExpired() {
	h.mu.Lock()
	var lost []*heldLine
	for _, l := range h.lines {
		if !l.held() {
			lost = append(lost, l)
		}
	}
	h.mu.Unlock()
	for _, l := range lost {
		h.s.opts.Logger.Warn("a line was not kept in time", "reference", l.id)
		h.lose(l)
	}
}

// lose closes a line that belongs to another node, or to nobody.
func (h *holds) lose(l *heldLine) {
	l.until.Store(0)
	h.mu.Lock()
	if h.lines[l.id] == l {
		delete(h.lines, l.id)
	}
	h.mu.Unlock()
	h.working.Go(func() { l.close(context.Background()) })
}

// end closes all lines and hands them over to other nodes.
func (h *holds) end(ctx context.Context) {
	h.mu.Lock()
	for _, l := range h.lines {
		h.working.Go(func() { l.close(ctx) })
	}
	h.mu.Unlock()
	h.working.Wait()
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := h.release(ctx, `node = $1`, h.node); err != nil {
		h.s.opts.Logger.WarnContext(ctx, "handing over lines", slogError(err))
	}
}

// release lets others take lines at once.
func (h *holds) release(ctx context.Context, where string, args ...any) error {
	err := h.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`UPDATE messaging_hold SET node = '', until_us = 0 WHERE `+where, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("handing over lines: %w", err)
	}
	h.s.db.Wake(holdTopic)
	return nil
}

// serves reports whether this node may work for a line: it is no connection, or
// is open here.
func (h *holds) serves(id provider.ReferenceID) bool {
	h.mu.Lock()
	l, away := h.lines[id], h.away[id]
	h.mu.Unlock()
	return !away && (l == nil || l.open() != nil)
}

// session is the open session of a line that is a connection.
func (h *holds) session(id provider.ReferenceID) (provider.Session, error) {
	h.mu.Lock()
	l := h.lines[id]
	h.mu.Unlock()
	if l != nil {
		if sess := l.open(); sess != nil {
			return sess, nil
		}
	}
	return nil, errNotHere
}
