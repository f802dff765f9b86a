package connection

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// silence is how long a lease must be seen not to be renewed before it is taken from
// another node, and sightings how often: the clock alone, which may be set, does not say
// that it has ended. The other node may have renewed it just before it was seen first, and
// has then let go for a second.
const (
	silence   = leaseTTL - heartbeatInterval/4
	sightings = 3
)

// sight notes which leases of other nodes are not renewed. Those are free that have ended
// by the clock, and were not renewed for as long as this node looked.
func (ls *leases) sight(rows []leaseRow) {
	before := ls.looked
	ls.looked = ls.age()
	if ls.looked-before > leaseTTL/2 { // the other may have stood still together with this one
		ls.silent.Forget()
	}
	others := map[provider.ReferenceID]int64{}
	for _, r := range rows {
		if r.Node != ls.node && r.Node != "" {
			others[r.Reference] = r.UntilUS
		}
	}
	still := ls.silent.Look(others)
	for i := range rows {
		r := &rows[i]
		if _, leased := others[r.Reference]; leased && !still[r.Reference] {
			r.Free = false
		}
	}
}

// MoveLeases moves the times until which references are leased, or left alone, with the
// clock of the database.
func MoveLeases(ctx context.Context, tx *database.Tx, s clockstep.Step) error {
	_, err := tx.ExecContext(ctx, s.Update("messaging_lease", "until_us", fmt.Sprintf("until_us < %d", never)))
	return err
}
