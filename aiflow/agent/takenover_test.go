package agent_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// TestLateWriteOfAnotherNode has a node that lost its work write down what it did while
// another goes on with it: that one takes note of it, and the run does not fail.
func TestLateWriteOfAnotherNode(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := newClerk()
		var made shop
		tools := made.tools()
		ship := tools[1].Call
		tools[1].Call = func(ctx context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
			out, err := ship(ctx, r)
			_, late := db.ExecContext(ctx, `UPDATE agent_entry SET status = 'done', result = '{"content":"shipped"}', done_us = started_us
				WHERE kind = 'tool' AND status = 'started'`)
			require.NoError(t, late)
			return out, err
		}
		f := running(t, db, change{model: model, tools: tools})
		before := f.sums(t)
		id := f.publish(t, document(t, config{"tools": []string{"find", "ship", "tidy"}, "memory": map[string]any{"scope": "none"}}))
		d := f.rest(t, f.start(t, id, "chat", "the order").ID)
		require.Equal(t, "Shipped the order.", output(t, d))
		require.Zero(t, requireCompleted(t, f, model, &made, before, d.ID))
	})
}
