package web_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestCalls are offered, and missed when nobody answers.
func TestCalls(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		call := ana.Calls().Ring(f.owner.LID(), true)
		ringing := await(t, f.inbox, func(c *provider.Call) bool { return c.Status == provider.CallRinging })
		require.Equal(t, call.ID, ringing.CallID)
		require.True(t, ringing.Video)
		require.False(t, ringing.Mine)
		require.Equal(t, ana.JID().User, ringing.Chat.Phone)
		require.Equal(t, ana.JID().User, ringing.From.Phone)
		ana.Calls().HangUp(call, "timeout")
		missed := await(t, f.inbox, func(c *provider.Call) bool { return c.Status == provider.CallMissed })
		require.Equal(t, call.ID, missed.CallID)
		require.NotEqual(t, ringing.ID, missed.ID, "each step is a report of its own")
		require.NoError(t, f.device.AwaitIdle(soon(t)))
	})
}

// TestCallEnds follows a call that somebody takes on the phone: its end is no
// missed call.
func TestCallEnds(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		call := ana.Calls().Ring(f.owner.LID(), false)
		step := func(want provider.CallStatus) *provider.Call {
			c := await(t, f.inbox, func(c *provider.Call) bool { return c.Status == want })
			require.Equal(t, call.ID, c.CallID)
			require.Equal(t, ana.JID().User, c.Chat.Phone)
			return c
		}
		step(provider.CallRinging)
		f.owner.Calls().PickUp(call)
		step(provider.CallAccepted)
		ana.Calls().HangUp(call, "")
		require.Equal(t, ana.JID().User, step(provider.CallEnded).From.Phone)
		require.NoError(t, f.device.AwaitIdle(soon(t)))

		refused := ana.Calls().Ring(f.owner.LID(), true)
		f.owner.Calls().Decline(refused)
		got := await(t, f.inbox, func(c *provider.Call) bool { return c.Status == provider.CallRejected })
		require.Equal(t, refused.ID, got.CallID)
		require.NoError(t, f.device.AwaitIdle(soon(t)))
	})
}

// TestIdentity is that a contact has new keys, and continues writing.
func TestIdentity(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		chat := f.says(t, ana, textMessage("old phone")).Chat
		f.answers(t, chat, ana, provider.Text{Text: "hello"})
		ana.Reinstall()
		changed := await(t, f.inbox, func(c *provider.ContactChange) bool { return c.What == provider.ContactIdentity })
		require.Equal(t, chat, changed.Chat)
		f.says(t, ana, textMessage("new phone"))
		f.answers(t, chat, ana, provider.Text{Text: "welcome back"})
	})
}

// TestPhoneBook is what the phone's book calls people.
func TestPhoneBook(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		ids := map[string]bool{}
		for i, called := range []string{"Ana Lima", "Ana", "Ana Lima"} { // the first with the book as a whole
			f.inbox.clear()
			f.save(t, ana, called)
			if i == 0 {
				_, err := f.owner.ShareState(soon(t), f.device)
				require.NoError(t, err)
			}
			saved := f.saved(t, called)
			require.Equal(t, ana.JID().User, saved.Chat.Phone)
			require.False(t, ids[saved.ID], "each change is a report of its own")
			ids[saved.ID] = true
		}
		f.save(t, ana, "")
		forgotten := await(t, f.inbox, func(c *provider.ContactChange) bool { return c.What == provider.ContactForgotten })
		require.Equal(t, ana.JID().User, forgotten.Chat.Phone)
	})
}

// save writes somebody into the book of the owner's phone.
func (f *fixture) save(t testing.TB, who *webtest.Phone, name string) {
	t.Helper()
	require.NoError(t, f.owner.SetState(soon(t), appstate.PatchInfo{
		Type: appstate.WAPatchCriticalUnblockLow, Mutations: []appstate.MutationInfo{{
			Index: []string{appstate.IndexContact, who.JID().String()}, Version: 2,
			Value: &waSyncAction.SyncActionValue{ContactAction: &waSyncAction.ContactAction{FullName: &name}},
		}},
	}))
}

// saved waits until the reference has reported a name.
func (f *fixture) saved(t testing.TB, name string) *provider.ContactChange {
	t.Helper()
	return await(t, f.inbox, func(c *provider.ContactChange) bool { return c.What == provider.ContactSaved && c.Name == name })
}

// loss is a database that is away at a step.
type loss struct {
	begin func(*fixture)
	felt  func(*fixture) bool // whether it has done harm
	end   func(*testing.T, *fixture)
}

func tableAway(table string) loss {
	return loss{
		begin: func(f *fixture) { f.db.MustExec(`ALTER TABLE ` + table + ` RENAME TO web_away`) },
		felt:  func(f *fixture) bool { return f.log.says("app state") || f.inbox.has(provider.Reconnecting) },
		end:   func(_ *testing.T, f *fixture) { f.db.MustExec(`ALTER TABLE web_away RENAME TO ` + table) },
	}
}

func inboxAway(end func(*testing.T, *fixture)) loss {
	const often = 1 << 20
	return loss{
		begin: func(f *fixture) { f.inbox.fail.Store(often) },
		felt:  func(f *fixture) bool { return f.inbox.fail.Load() < often },
		end:   end,
	}
}

// TestPhoneBookIsNotLost has a database that is away at each step of a change in
// the phone's book, which the network tells once.
func TestPhoneBookIsNotLost(t *testing.T) {
	t.Parallel()
	heal := func(_ *testing.T, f *fixture) { f.inbox.fail.Store(0) }
	for name, l := range map[string]loss{
		"inbox": inboxAway(heal),
		"restart": inboxAway(func(t *testing.T, f *fixture) {
			f.close(t)
			heal(t, f)
			f.open(t)
		}),
		"marks": tableAway("web_contacts"), "versions": tableAway("whatsmeow_app_state_version"), "names": tableAway("whatsmeow_contacts"),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqlx.DB) {
				f, ana, ben := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil)
				f.save(t, ana, "Ana")
				_, err := f.owner.ShareState(soon(t), f.device)
				require.NoError(t, err)
				f.saved(t, "Ana")
				l.begin(f)
				f.save(t, ben, "Ben")
				testkit.Until(t, []*testsignal.Signal{&f.inbox.called, &f.log.wrote}, func() bool { return l.felt(f) })
				l.end(t, f)
				f.device.Drop()
				f.save(t, ana, "Ana Lima") // which hides nothing
				f.saved(t, "Ana Lima")
				require.Equal(t, ben.JID().User, f.saved(t, "Ben").Chat.Phone)
			})
		})
	}
}

// TestMarkOnline shows the account as online as soon as its name is known, if
// it is to be.
func TestMarkOnline(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.ref.Settings["markOnline"] = "true"
		f.open(t)
		f.link(t)
		require.False(t, f.device.Online())
		_, err := f.owner.ShareState(soon(t), f.device)
		require.NoError(t, err)
		require.NoError(t, f.owner.SetState(soon(t), appstate.BuildSettingPushName("Shop")))
		require.NoError(t, f.device.AwaitOnline(soon(t)))
		f.inbox.clear()
		f.device.Drop()
		up := f.inbox.state(t, provider.Connected)
		require.Equal(t, "Shop", up.Account.Name)
		require.NoError(t, f.device.AwaitOnline(soon(t)))
	})
}

// past is a piece of history: a chat with ana and a group.
func past(ana *webtest.Phone, group string, percent uint32) *waHistorySync.HistorySync {
	old := func(chat, id, words string, mine bool, at uint64) *waHistorySync.HistorySyncMsg {
		m := &waWeb.WebMessageInfo{
			Key:     &waCommon.MessageKey{RemoteJID: &chat, FromMe: &mine, ID: &id},
			Message: textMessage(words), MessageTimestamp: &at, Status: waWeb.WebMessageInfo_READ.Enum(),
		}
		if chat == group && !mine {
			m.Participant = proto.String(ana.LID().String())
		}
		return &waHistorySync.HistorySyncMsg{Message: m}
	}
	person, mark := ana.LID().String(), ana.JID().User
	return &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(), ChunkOrder: proto.Uint32(1), Progress: &percent,
		Conversations: []*waHistorySync.Conversation{
			{ID: &person, Messages: []*waHistorySync.HistorySyncMsg{ // the newest first
				old(person, "B"+mark, "second", true, 1700000100), old(person, "A"+mark, "first", false, 1700000000),
			}},
			{ID: &group, Name: proto.String("Old friends"), Messages: []*waHistorySync.HistorySyncMsg{
				old(group, "G"+mark, "in the group", false, 1700000050),
			}},
			{ID: proto.String("status@broadcast"), Messages: []*waHistorySync.HistorySyncMsg{
				old("status@broadcast", "S"+mark, "a status", false, 1700000060),
			}},
		},
		PhoneNumberToLidMappings: []*waHistorySync.PhoneNumberToLIDMapping{{
			PnJID: proto.String(ana.JID().String()), LidJID: &person,
		}},
	}
}

// TestHistory imports what the phone hands over, within a message or as a file.
func TestHistory(t *testing.T) {
	t.Parallel()
	for name, inline := range map[string]bool{"inline": true, "file": false} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqlx.DB) {
				f := newReference(t, db, nil)
				f.ref.Settings["historySync"] = "true"
				f.open(t)
				f.link(t)
				ana := fake.AddPhone(nil)
				mark, group := ana.JID().User, "120363"+ana.JID().User+"@g.us"
				_, err := f.owner.SendHistory(soon(t), f.device, past(ana, group, 40), inline)
				require.NoError(t, err)
				progress := await(t, f.inbox, func(*provider.HistoryProgress) bool { return true })
				require.Equal(t, 1, progress.Phase)
				require.Equal(t, 40, progress.Percent)
				first, second := f.inbox.message(t, "A"+mark), f.inbox.message(t, "B"+mark)
				require.Equal(t, mark, first.Chat.Phone, "by the mapping that came with it")
				require.Equal(t, first.Chat, second.Chat)
				require.True(t, first.Historical)
				require.Equal(t, provider.StatusRead, second.Status)
				require.True(t, second.Mine)
				require.Equal(t, time.Unix(1700000000, 0), first.At)
				require.Equal(t, mark, f.inbox.message(t, "G"+mark).From.Phone)
				require.Equal(t, []string{"first", "second", "in the group"}, f.inbox.texts(), "the oldest first")
				await(t, f.inbox, func(g *provider.GroupChange) bool { return g.Subject == "Old friends" && g.Chat.ChatID == group })
				f.noHistory(t)
			})
		})
	}
}

// noHistory waits until nothing is left to import.
func (f *fixture) noHistory(t testing.TB) {
	t.Helper()
	testkit.UntilCommitted(t, f.db, func() bool {
		var n int
		return f.db.Get(&n, `SELECT count(*) FROM web_history WHERE reference = $1`, f.ref.ID) == nil && n == 0
	})
}

// TestHistoryGoesOn after a restart in the middle of it, and after the network
// could not give its file.
func TestHistoryGoesOn(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.ref.Settings["historySync"] = "true"
		f.open(t)
		f.link(t)
		ana := fake.AddPhone(nil)
		f.inbox.failHistory.Store(true)
		id, err := f.owner.SendHistory(soon(t), f.device, past(ana, "120363"+ana.JID().User+"@g.us", 100), false)
		require.NoError(t, err)
		require.NoError(t, f.device.AwaitAck(soon(t), id), "its notice is stored")
		f.close(t)
		require.Zero(t, f.inbox.count("A"+ana.JID().User))
		f.inbox.failHistory.Store(false)
		f.open(t)
		f.inbox.message(t, "A"+ana.JID().User)
		f.noHistory(t)
	})
}

// TestHistoryIsUnreadable or has expired: it does not keep what comes after it.
func TestHistoryIsUnreadable(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.ref.Settings["historySync"] = "true"
		f.open(t)
		f.link(t)
		ana := fake.AddPhone(nil)
		for i, n := range []*waE2E.HistorySyncNotification{
			{InitialHistBootstrapInlinePayload: []byte("no zlib")},
			{DirectPath: proto.String("/v/t62/gone?x=1"), MediaKey: make([]byte, 32), FileSHA256: make([]byte, 32), FileEncSHA256: make([]byte, 32)},
		} {
			body, err := proto.Marshal(n)
			require.NoError(t, err)
			db.MustExec(`INSERT INTO web_history (reference, id, message, notice, at_us) VALUES ($1, $2, 'M', $3, $4)`,
				f.ref.ID, fmt.Sprint("BAD", i), base64.StdEncoding.EncodeToString(body), i)
		}
		_, err := f.owner.SendHistory(soon(t), f.device, past(ana, "120363"+ana.JID().User+"@g.us", 100), false)
		require.NoError(t, err)
		f.inbox.message(t, "A"+ana.JID().User)
		f.noHistory(t)
	})
}

// TestForeignHistory is what somebody else sends as if it were the phone's.
func TestForeignHistory(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.ref.Settings["historySync"] = "true"
		f.open(t)
		f.link(t)
		ana := fake.AddPhone(nil)
		id, err := ana.Send(soon(t), webtest.Outgoing{To: f.owner.LID(), Message: &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Type:                    waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(),
			HistorySyncNotification: &waE2E.HistorySyncNotification{InitialHistBootstrapInlinePayload: []byte("forged")},
		}}})
		require.NoError(t, err)
		require.NoError(t, f.device.AwaitAck(soon(t), id))
		var n int
		require.NoError(t, db.Get(&n, `SELECT count(*) FROM web_history WHERE reference = $1`, f.ref.ID))
		require.Zero(t, n)
	})
}

// TestHistoryIsNotWanted keeps nothing of it.
func TestHistoryIsNotWanted(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		id, err := f.owner.SendHistory(soon(t), f.device, past(ana, "120363"+ana.JID().User+"@g.us", 100), true)
		require.NoError(t, err)
		require.NoError(t, f.device.AwaitAck(soon(t), id))
		f.noHistory(t)
		require.Zero(t, f.inbox.count("A"+ana.JID().User))
	})
}
