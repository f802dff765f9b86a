package messaging_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// exported collects the messages of an export by what they say.
func exported(t *testing.T, e *messaging.Export) (order []string, byText map[string]messaging.ExportedMessage) {
	t.Helper()
	byText = map[string]messaging.ExportedMessage{}
	for m, err := range e.Messages(t.Context()) {
		require.NoError(t, err)
		words := m.Message.Text + m.Message.Caption
		order, byText[words] = append(order, words), m
	}
	return order, byText
}

// TestExport finds all that [TestDeleteChat] erases.
func TestExport(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref, gate := f.reference(t, filesKind), make(chan struct{})
		t.Cleanup(func() { close(gate) })
		f.plant(t, ref, gate)
		e, err := f.acc.Export(t.Context(), ref, canaryUser)
		require.NoError(t, err)
		require.Equal(t, []string{canaryPhone, canaryUser}, e.IDs)
		require.Equal(t, messaging.Identity{ChatID: canaryPhone, Phone: ptr(canaryPhone), UserID: ptr(canaryUser), Username: ptr("canary.lima")}, e.Identity)
		require.Equal(t, "Canary label", e.Chat.Name)
		for call, err := range e.Calls(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "call", call.ID)
			require.Equal(t, provider.CallRinging, call.Status)
		}
		kinds := map[string]string{}
		for _, r := range e.Reports {
			kinds[r.Kind] = string(r.Body)
		}
		require.Contains(t, kinds["identity"], "canary identity")
		require.Contains(t, kinds["news"], canaryPhone)
		require.Equal(t, "canary is no array", e.DeadLetters[0].Kind)
		require.Equal(t, []messaging.Number{
			{Phone: "1", Exists: ptr(true), ChatID: canaryUser}, {Phone: canaryPhone, Exists: ptr(true), ChatID: canaryPhone},
		}, sorted(e.Numbers))
		require.Equal(t, []string{"g1", "g3"}, e.MessageIDs())

		order, byText := exported(t, e)
		require.Equal(t, []string{
			"canary by id", "canary hello", "see canary.png", byText[order[3]].Message.Text, "canary answer", "canary refused",
			"see canary waits.png", "canary behind it", "canary in the group", "canary last in the group",
		}, order)
		image := byText["see canary.png"]
		require.Equal(t, image.Message.FileURL, image.File.FileURL)
		require.Equal(t, "image/png", image.File.MimeType)
		require.True(t, byText["see canary waits.png"].File.Waiting)
		require.JSONEq(t, `{"hologram":"canary"}`, string(byText[order[3]].Raw))
		answer := byText["canary answer"]
		require.JSONEq(t, `{"type":"text","text":"canary answer"}`, string(answer.Content))
		require.Equal(t, "SENDING", answer.Statuses[0].Status)
		require.Equal(t, "FAIL", byText["canary refused"].Statuses[0].Status)
		require.Equal(t, family, byText["canary in the group"].Message.ChatID)

		for _, err := range e.Messages(t.Context()) {
			require.NoError(t, err)
			break // who has enough may stop
		}
		_, err = f.acc.Export(t.Context(), ref, "123")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		_, err = f.svc.For("another").Export(t.Context(), ref, canaryPhone)
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}

func sorted(ns []messaging.Number) []messaging.Number {
	if len(ns) == 2 && ns[0].Phone > ns[1].Phone {
		ns[0], ns[1] = ns[1], ns[0]
	}
	return ns
}

// TestExportPages reads a long chat, imported history first, and nothing twice.
func TestExportPages(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, testKind)
		const n = 401
		events := make([]provider.Event, n)
		for i := range events {
			events[i] = text("m"+string(rune('a'+i%26))+string(rune('a'+i/26)), "111", "hello", func(m *provider.Message) {
				m.Historical = i%2 == 0
				m.At = epoch.AddDate(0, 0, -i)
			})
		}
		f.receive(t, ref, events...)
		e, err := f.acc.Export(t.Context(), ref, "111")
		require.NoError(t, err)
		seen := map[string]bool{}
		for m, err := range e.Messages(t.Context()) {
			require.NoError(t, err)
			require.False(t, seen[m.Message.ID])
			seen[m.Message.ID] = true
		}
		require.Len(t, seen, n)
	})
}

// TestExportPagesCalls reads the calls of a chat a page at a time, in order.
func TestExportPagesCalls(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f := setup(t, seen, config{idle: true})
		ref := f.reference(t, testKind)
		const n = 450
		var evs []provider.Event
		for i := range n {
			m := text("x", "", "x", from("111", ""))
			evs = append(evs, &provider.Call{
				Raw: raw("call", fmt.Sprint(i)), CallID: fmt.Sprint(i), Chat: m.Chat, From: m.From, Status: provider.CallRinging, At: epoch,
			})
		}
		for part := range slices.Chunk(evs, 150) {
			f.receive(t, ref, part...)
		}
		e, err := f.acc.Export(t.Context(), ref, "111")
		require.NoError(t, err)
		const query = "FROM messaging_call WHERE chat = $1 AND id > $2"
		require.Zero(t, asked.Of(query), "before they are asked for")
		ids := map[string]bool{}
		for call, err := range e.Calls(t.Context()) {
			require.NoError(t, err)
			ids[call.ID] = true
		}
		require.Len(t, ids, n)
		require.Equal(t, 3, asked.Of(query))
	})
}
