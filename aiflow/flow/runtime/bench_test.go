package runtime_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// BenchmarkTurns answers messages: each asks a question and waits. It reports
// the processor's time of a turn, the database's included.
func BenchmarkTurns(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
		const chats = 200
		f := running(b, db, nil)
		f.shelf.add(b, "talk", nodes(b, `"name":{"type":"string"}`, `
			"first":{"type":"question","config":{"prompt":{"text":"Who?"},"saveTo":"name","timeout":"P1D"},"next":{"out":"first"}}`))
		ask := func(n int) {
			require.NoError(b, f.db.InTx(b.Context(), func(tx *database.Tx) error {
				for i := range n {
					if err := f.IncomingTx(b.Context(), tx, incoming(fmt.Sprint("c", i%chats), "hi")); err != nil {
						return err
					}
				}
				return nil
			}))
			f.until(b, func() bool {
				var waiting int
				require.NoError(b, f.raw.GetContext(b.Context(), &waiting, `SELECT count(*) FROM flow_input`))
				return waiting == 0
			})
		}
		ask(chats)
		before := testkit.CPUTime(b)
		for b.Loop() {
			ask(chats)
		}
		turns := float64(b.N * chats)
		b.ReportMetric(float64((testkit.CPUTime(b)-before).Microseconds())/turns, "cpu-µs/turn")
		b.ReportMetric(turns/b.Elapsed().Seconds(), "turns/s")
	})
}
