//go:build unix

package runtime_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	// takenUp is the promise: what a dead node had in hand is taken up within it.
	takenUp = 15 * time.Second
	// atWork is how long the work itself may take on a busy machine, which may
	// stand still meanwhile.
	atWork = 2 * time.Minute
)

// TestNodeDies has two nodes share 5,000 runs that wait for replies or timers,
// and kills one while it works: the other one handles all, nothing twice.
func TestNodeDies(t *testing.T) {
	t.Parallel()
	const runs, chunk = 5000, 250
	url := testkit.PostgresURL(t)
	w := newWorld(t, 0)
	f := setup(t, testkit.Open(t, url), func(o *runtime.Options) { o.Now = time.Now })
	setting, err := json.Marshal(childSetting{url, w.URL})
	require.NoError(t, err)
	one, _ := testkit.Child(t, "TestChild", runningLine, childEnv+"="+string(setting))
	_, _ = testkit.Child(t, "TestChild", runningLine, childEnv+"="+string(setting))
	asking := nodes(t, ``, `"first":{"type":"question","config":{"prompt":{"text":"Well?"},"timeout":"P30D"},"next":{"out":"thanks","timeout":"late"}},
		"thanks":{"type":"message","config":{"text":"Thanks for {{ input.text }}"}},"late":{"type":"message","config":{"text":"Late."}}`)
	for from := 0; from < runs; from += chunk {
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			for i := from; i < from+chunk; i++ {
				_, err := f.acc.StartTx(t.Context(), tx, runtime.Start{Engine: flow.EngineFlow, Owner: "waiter", Version: 1, Source: asking, Chat: chatOf(fmt.Sprint("c", i))})
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	did := func(what string) (n int) {
		require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT count(*) FROM test_did WHERE body LIKE $1`, what))
		return n
	}
	require.Eventually(t, func() bool { return did(`"Well?"`) == runs }, 4*patient, 50*time.Millisecond)

	// Half of the timers come due with the replies.
	_, err = f.raw.ExecContext(t.Context(), `UPDATE flow_timer SET at_us = $1 WHERE run IN (SELECT seq FROM flow_run WHERE seq % 2 = 0)`, time.Now().Add(time.Second).UnixMicro())
	require.NoError(t, err)
	var odd []string
	require.NoError(t, f.raw.SelectContext(t.Context(), &odd, `SELECT chat_id FROM flow_run WHERE seq % 2 = 1`))
	for from := 0; from < len(odd); from += chunk {
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			for _, chat := range odd[from:min(len(odd), from+chunk)] {
				if err := f.IncomingTx(t.Context(), tx, incoming(chat, "it")); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	eventually(t, func() bool { return did(`"Thanks%`)+did(`"Late%`) >= runs/10 })
	require.NoError(t, one.Process.Kill())
	_ = one.Wait()
	killed, handled := time.Now(), did(`"Thanks%`)+did(`"Late%`)
	require.Eventually(t, func() bool { return did(`"Thanks%`)+did(`"Late%`) >= runs }, takenUp+atWork, 20*time.Millisecond)
	duration := time.Since(killed)
	require.Equal(t, len(odd), did(`"Thanks for it"`))
	require.Equal(t, runs-len(odd), did(`"Late."`))
	f.once(t)
	t.Logf("promise: %s: %d runs waited on two nodes, one was killed when %d were handled: the other handled all replies and timers after %.1f s, none twice",
		t.Name(), runs, handled, duration.Seconds())
}
