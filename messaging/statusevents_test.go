package messaging_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// TestStatusEvents_SayWhenAndWhy reads the events of statuses.
func TestStatusEvents_SayWhenAndWhy(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		m := f.send(t, say(ref, "hi"))
		feed := follow(t, f, ref, "")
		said := epoch.Add(-time.Hour)
		why := &provider.Failure{Code: "131026", Message: "Undeliverable", Advice: "Write to another number."}
		f.receive(t, ref, &provider.StatusChange{MessageID: m.ID, Status: provider.StatusFail, At: said, Error: why})
		f.clock.Advance(time.Minute)
		f.receive(t, ref, &provider.StatusChange{MessageID: m.ID, Status: provider.StatusDelivered})

		var got []messaging.StatusPayload
		for _, e := range f.sink.all(t) {
			if e.Type == messaging.EventStatus {
				var p messaging.StatusPayload
				require.NoError(t, json.Unmarshal(e.Payload, &p))
				got = append(got, p)
			}
		}
		require.Len(t, got, 2)
		failure := &messaging.Failure{Code: "131026", Message: "Undeliverable", Advice: "Write to another number."}
		require.Equal(t, failure, got[0].Error)
		require.Equal(t, said.Unix(), got[0].At.Unix(), "by the network's clock")
		require.Nil(t, got[1].Error, "it did not fail after all")
		require.Equal(t, epoch.Add(time.Minute).Unix(), got[1].At.Unix(), "the network did not say when")
		for i, e := range takeKind(t, feed, string(messaging.EventStatus), 2) {
			var entry struct {
				At    messaging.UnixTime
				Error *messaging.Failure
			}
			require.NoError(t, json.Unmarshal([]byte(e.Data), &entry))
			require.Equal(t, got[i].At.Unix(), entry.At.Unix())
			require.Equal(t, got[i].Error, entry.Error)
		}
		x, err := f.acc.Explain(t.Context(), ref, "111", m.ID)
		require.NoError(t, err)
		failed := x.Steps[len(x.Steps)-2]
		require.Equal(t, failure, failed.Error)
		require.Equal(t, said, failed.SaidAt)
	})
}

// TestAdvice_IsKept follows it from each place where a network gives it.
func TestAdvice_IsKept(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		kept := &messaging.Failure{Code: "131026", Message: "Undeliverable", Advice: "Write to another number."}
		last := func() messaging.MessagePayload {
			var p messaging.MessagePayload
			all := f.sink.all(t)
			require.NoError(t, json.Unmarshal(all[len(all)-1].Payload, &p))
			return p
		}

		// An answer.
		f.net.fail(&provider.BadRecipient{Code: kept.Code, Message: kept.Message, Advice: kept.Advice})
		_, err := f.acc.Send(t.Context(), say(ref, "refused"))
		refused := requireCode(t, err, messaging.CodeProvider)
		require.Equal(t, "Undeliverable [Write to another number.]", refused.Message)
		require.Equal(t, kept, f.message(t, ref, "111", refused.MessageID).Error)
		require.Equal(t, "FAIL", last().Status)
		require.Equal(t, kept, last().Error, "no status event follows that could say why")

		// A status that was faster than the answer.
		f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			r := f.net.taken(out)
			f.receive(t, ref, &provider.StatusChange{MessageID: r.MessageID, Status: provider.StatusFail, Error: new(provider.Failure(*kept))})
			return r, nil
		})
		sent, _ := f.acc.Send(t.Context(), say(ref, "late"))
		f.until(t, "the early status is applied", func() bool {
			m, err := f.acc.Message(t.Context(), ref, "", sent.Message.RequestID)
			return err == nil && m.Status == "FAIL" && m.Error.Advice == kept.Advice
		})
	})
}

// TestTemplate_IsKept sends one, and reads it in record, event and explanation.
func TestTemplate_IsKept(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		send := func(components ...json.RawMessage) messaging.Message {
			return f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout, Content: provider.Template{Template: provider.TemplateCall{
				Name: "order_ready", Language: provider.TemplateLanguage{Code: "en"}, Components: components,
			}}})
		}
		for components, m := range map[string]messaging.Message{
			`[]`: send(),
			`[{"type":"body","parameters":[{"type":"text","text":"Ana \u0000 <b>"}]}]`: send(json.RawMessage(`{"type":"body", "parameters":[{"type":"text","text":"Ana \u0000 <b>"}]}`)),
		} {
			want := `{"name":"order_ready","language":{"code":"en"},"components":` + components + `}`
			require.Equal(t, "text", m.Type)
			require.JSONEq(t, want, string(encoded(t, f.message(t, ref, "111", m.ID).Template)))
			x, err := f.acc.Explain(t.Context(), ref, "111", m.ID)
			require.NoError(t, err)
			require.JSONEq(t, want, string(encoded(t, x.Message.Template)))
			for _, e := range f.sink.all(t) {
				if e.MessageID == m.ID {
					require.JSONEq(t, want, member(t, e.Payload, "template"))
				}
			}
		}
		_, err := f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Template{Template: provider.TemplateCall{
			Name: "x", Language: provider.TemplateLanguage{Code: "en"}, Components: []json.RawMessage{json.RawMessage(`{`)},
		}}})
		requireInvalid(t, err, "message.template.components[0]")
	})
}
