package messenger

import (
	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// handover reads which app answers in a chat from now on. A thread that another
// app takes was ours. A thread that is passed is ours, unless it goes to the
// page's inbox.
//
// See https://developers.facebook.com/docs/messenger-platform/handover-protocol
func handover(what string) func(r *reader, in *item, v graph.Value) {
	return func(r *reader, in *item, v graph.Value) {
		h := &provider.Handover{
			Raw: *r.itself("handover", in), What: what, Chat: r.contact(in), At: in.at,
			From: v.Get("previous_owner_app_id").ID(), To: v.Get("new_owner_app_id").ID(), Metadata: v.Get("metadata").Text(),
		}
		switch what {
		case "take_thread_control":
			h.Owner = provider.HandoverTheirs
		case "pass_thread_control":
			h.Owner = provider.HandoverOurs
			if inboxApps[h.To] {
				h.Owner = provider.HandoverTheirs
			}
		case "request_thread_control":
			h.To = v.Get("requested_owner_app_id").ID()
		case "app_roles":
			h.Chat = provider.Address{} // the recipient is the page
			for app := range jsonscan.Members(v) {
				h.To = string(app)
			}
		}
		if h.Chat.ChatID == "" {
			h.Owner = provider.HandoverSame
		}
		r.Report(h)
	}
}

// linking reads that the contact logged in to the business's own service, or
// out of it.
func (r *reader) linking(in *item, v graph.Value) {
	raw, chat := r.itself("account_linking", in), r.contact(in)
	change := &provider.ContactChange{Raw: *raw, What: provider.ContactLinked, Chat: chat, At: in.at}
	if v.Get("status").Text() == "unlinked" {
		change.What = provider.ContactUnlinked
	}
	if chat.ChatID == "" {
		r.Report(raw)
		return
	}
	r.Report(change)
}

// policy reads that the page may not write any more, or may write again.
func (r *reader) policy(in *item, v graph.Value) {
	h := &provider.Health{
		Raw: *r.itself("policy", in), At: in.at, Level: provider.HealthStopped, Code: provider.HealthBanned,
		State: v.Get("action").Text(), Detail: v.Get("reason").Text(),
	}
	if h.State == "unblock" {
		h.Level, h.Code = provider.HealthGood, ""
	}
	r.Report(h)
}
