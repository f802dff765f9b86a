package cloud

import (
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// A number can be shared with the WhatsApp Business app on a phone, see
// https://developers.facebook.com/documentation/business-messaging/whatsapp/embedded-signup/onboarding-business-app-users

// echoes reads what the account sent with the app on its phone.
func (r *reader) echoes(string) {
	r.each("message_echoes", func(item graph.Value) {
		in := readIncoming(item)
		in.mine = true
		r.keep(r.open(&in))
	})
}

// historyStatuses are the statuses of messages in the history.
var historyStatuses = map[string]provider.Status{
	"ERROR":     provider.StatusFail,
	"SENT":      provider.StatusSending,
	"DELIVERED": provider.StatusDelivered,
	"READ":      provider.StatusRead,
	"PLAYED":    provider.StatusPlayed,
}

// history reads messages from before the number was connected, in chunks, or
// that there are none. Their files follow later, as messages of the same field.
func (r *reader) history(kind string) {
	r.people = readPeople(r.value.Get("contacts"))
	r.each("history", func(chunk graph.Value) {
		for thread := range chunk.Get("threads").Items() {
			contact := thread.Get("id").ID()
			for item := range thread.Get("messages").Items() {
				r.old(item, contact, "")
			}
		}
		r.progress(kind, chunk)
	})
	own := number(r.value.Get("metadata").Get("display_phone_number").ID())
	r.each("messages", func(item graph.Value) { r.old(item, "", own) })
}

// old reads a message of a thread, which has the name of its contact. Without a
// thread, own is the account's number.
func (r *reader) old(item graph.Value, thread, own string) {
	in, was := readIncoming(item), item.Get("history_context")
	switch {
	case thread != "":
		in.mine = was.Get("from_me").Flag() || in.from != thread && in.fromUser != thread
		in.to = first(in.to, thread)
	default:
		in.mine = was.Get("from_me").Flag() || in.to != "" || own != "" && strings.TrimPrefix(in.from, "+") == own
	}
	m, bad := r.open(&in)
	if m != nil {
		m.Historical, m.Status = true, historyStatuses[strings.ToUpper(was.Get("status").Text())]
	}
	r.keep(m, bad)
}

// progress reports how far the import has come, or why there is none.
func (r *reader) progress(kind string, chunk graph.Value) {
	state, errs := chunk.Get("metadata"), chunk.Get("errors")
	p := &provider.HistoryProgress{
		Phase: int(state.Get("phase").Int()), Chunk: int(state.Get("chunk_order").Int()), Percent: int(state.Get("progress").Int()),
		Error: failure(errs),
	}
	switch {
	case p.Error != nil:
		p.Raw = r.Itself(kind, errs)
	case state.Object():
		p.Raw = r.Itself(kind, state)
	default:
		return
	}
	r.Report(p)
}
