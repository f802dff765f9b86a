package lane_test

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/lane"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		t.Parallel()
		var s sink
		q := newQueue(t, db, lane.Options{Handle: done(&s)})
		put(t, db, q, entries("c", 50, 2000)...)
		start(t, q)
		put(t, db, q, lane.Entry{Consumer: "c", Key: "k0", Subject: "41"})
		s.await(t, 2001)
		idle(t, q)
	})
}
