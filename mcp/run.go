package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	pruneInterval = 10 * time.Minute
	pruneChunk    = 500 // rows of a transaction, so that it does not block others for long
)

// Run deletes calls older than the retention, and limits that are full again, until
// ctx ends. Any number of processes may run it.
func (r *Registry) Run(ctx context.Context) error {
	clockstep.Watch(ctx, r.db, r.opts.Logger)
	return periodic.Run(ctx, pruneInterval, nil, r.opts.Logger, "deleting old function calls failed", r.prune)
}

// prune deletes old rows. Calls need no index by time: their ids increase with it.
func (r *Registry) prune(ctx context.Context) error {
	now := r.opts.Now()
	if keep := r.opts.Retention; keep > 0 {
		before := database.Micros(now.Add(-keep))
		err := r.db.InSteps(ctx, `DELETE FROM mcp_audit WHERE id IN (SELECT id FROM
			(SELECT id, at_us FROM mcp_audit ORDER BY id LIMIT $1) AS oldest WHERE at_us < $2)`, pruneChunk, before)
		if err != nil {
			return fmt.Errorf("deleting calls: %w", err)
		}
	}
	// A full bucket is the same as a missing one. The hour allows for clocks that
	// differ.
	before := database.Micros(now.Add(-time.Hour))
	err := r.db.InSteps(ctx, `DELETE FROM mcp_limit WHERE (account, caller, function) IN
		(SELECT account, caller, function FROM mcp_limit WHERE full_us < $1 LIMIT $2)`, before, pruneChunk)
	if err != nil {
		return fmt.Errorf("deleting limits: %w", err)
	}
	return nil
}
