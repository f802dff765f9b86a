package runtime_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// plain is a host that can send, and nothing else.
type plain struct{}

func (plain) Snapshot(context.Context, runtime.Chat) (runtime.Snapshot, error) {
	return runtime.Snapshot{}, nil
}

func (plain) SendTx(_ context.Context, _ runtime.Tx, r runtime.Run, s flow.Send) (string, error) {
	return r.ID + s.ID, nil
}

// TestHostThatCannot refuses what a host has no method for, and what needs a
// chat in runs that have none.
func TestHostThatCannot(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rt, err := runtime.New(t.Context(), db, plain{}, nil)
		require.NoError(t, err)
		(&fixture{Runtime: rt}).start(t)
		ends := func(chat runtime.Chat, node string) string {
			src := nodes(t, ``, `"first":`+node)
			run, err := rt.For(account).Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Source: src, Chat: chat, Wait: patient})
			require.NoError(t, err)
			require.False(t, run.EndedAt.IsZero(), node)
			if run.Error == nil {
				return ""
			}
			return run.Error.Code
		}
		for node, want := range map[string][2]string{ // without a chat, and in one
			`{"type":"message","config":{"text":"Hi"}}`:                            {flow.CodeNoChat, ""},
			`{"type":"contact","config":{"ops":[{"op":"add_tag","value":"vip"}]}}`: {flow.CodeNoChat, flow.CodeUnsupported},
			`{"type":"handoff"}`:                        {flow.CodeNoChat, flow.CodeUnsupported},
			`{"type":"event","config":{"name":"lead"}}`: {flow.CodeUnsupported, flow.CodeUnsupported},
			`{"type":"flow","config":{"flow":"other"}}`: {"flow.not_found", "flow.not_found"},
		} {
			require.Equal(t, want[0], ends(runtime.Chat{}, node), node)
			require.Equal(t, want[1], ends(chatOf("ana"), node), node)
		}
	})
}
