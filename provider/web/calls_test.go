package web_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

// TestRejectCall_RejectsWhatRings rejects calls that ring, also after a restart,
// when the session does not know any more who made the call.
func TestRejectCall_RejectsWhatRings(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		for _, restarts := range []bool{false, true} {
			call := ana.Calls().Ring(f.owner.LID(), false)
			ringing := await(t, f.inbox, func(c *provider.Call) bool { return c.CallID == call.ID })
			require.NoError(t, f.device.AwaitIdle(soon(t)))
			if restarts {
				f.close(t)
				f.open(t)
			}
			require.NoError(t, f.session.(provider.CallRejecter).RejectCall(soon(t), ringing.Chat, call.ID))
			require.NoError(t, ana.Calls().AwaitReject(soon(t), call))
		}
	})
}

// TestRejectCall_BySetting rejects each call once it rings, and says what to reply. A
// call that could not be stored is rejected and stored when it is delivered again.
func TestRejectCall_BySetting(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := newReference(t, db, nil), fake.AddPhone(nil)
		f.ref.Settings["calls.reject"], f.ref.Settings["calls.reply"] = "true", "Please write."
		f.open(t)
		f.link(t)
		f.inbox.fail.Store(1)
		call := ana.Calls().Ring(f.owner.LID(), true)
		require.NoError(t, ana.Calls().AwaitReject(soon(t), call))
		rejected := await(t, f.inbox, func(c *provider.Call) bool { return c.Status == provider.CallRejected })
		require.Equal(t, call.ID, rejected.CallID)
		require.Equal(t, ana.JID().User, rejected.Chat.Phone)
		require.Equal(t, provider.RejectedBySetting, rejected.RejectedBy)
		require.Equal(t, "Please write.", rejected.Reply)
		ringing := await(t, f.inbox, func(c *provider.Call) bool { return c.Status == provider.CallRinging })
		require.Empty(t, ringing.RejectedBy)
		require.Empty(t, ringing.Reply)
		require.NotEqual(t, ringing.ID, rejected.ID, "each step is a report of its own")
		require.NoError(t, f.device.AwaitIdle(soon(t)))
	})
}

// TestRejectCall_LeavesOldCalls does not reject a call that rang while the
// reference was not connected.
func TestRejectCall_LeavesOldCalls(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := newReference(t, db, nil), fake.AddPhone(nil)
		f.ref.Settings["calls.reject"] = "true"
		f.open(t)
		f.link(t)
		f.clock.add(2 * time.Minute)
		call := ana.Calls().Ring(f.owner.LID(), false)
		ana.Calls().HangUp(call, "timeout")
		missed := await(t, f.inbox, func(c *provider.Call) bool { return c.CallID == call.ID && c.Status != provider.CallRinging })
		require.Equal(t, provider.CallMissed, missed.Status)
	})
}
