package messenger

import (
	"cmp"
	"encoding/json"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// referred returns what led the contact to the chat, or nil.
func referred(v graph.Value) *provider.Referral {
	if !v.Object() {
		return nil
	}
	ref := &provider.Referral{
		Source: v.Get("source").Text(), SourceID: v.Get("ad_id").ID(), Ref: v.Get("ref").ID(),
		URL: v.Get("referer_uri").Text(), Headline: v.Get("ads_context_data").Get("ad_title").Text(), Body: json.RawMessage(v),
	}
	if product := v.Get("product").Get("id").ID(); product != "" {
		ref.Source, ref.SourceID = cmp.Or(ref.Source, "product"), cmp.Or(ref.SourceID, product)
	}
	return ref
}

// referral reads that the contact came by a link or an advertisement.
func (r *reader) referral(in *item, v graph.Value) { r.opened("referral", in, referred(v)) }

// optInSource is the source of contacts that came by a plugin.
const optInSource = "optin"

// optin reads that the contact used a plugin, or allowed messages outside of
// the window.
func (r *reader) optin(in *item, v graph.Value) {
	if v.Get("type").Text() == "notification_messages" {
		r.notifications(in, v)
		return
	}
	r.opened("optin", in, &provider.Referral{Source: optInSource, Ref: v.Get("ref").ID(), Body: json.RawMessage(v)})
}

// opened reports that the contact opened the chat. A person of a plugin may not
// have an id yet.
func (r *reader) opened(kind string, in *item, ref *provider.Referral) {
	if r.contact(in).ChatID == "" {
		r.Report(r.itself(kind, in))
		return
	}
	m := r.open(in, apart+r.made(kind, in))
	m.Referral, m.Content = ref, provider.Opened{}
	r.Add(m.ID, m)
}

// notifications reads whether the contact wants messages about a topic.
func (r *reader) notifications(in *item, v graph.Value) {
	raw, chat := r.itself("optin", in), r.contact(in)
	if chat.ChatID == "" {
		r.Report(raw)
		return
	}
	change := &provider.ContactChange{
		Raw: *raw, What: provider.ContactOptedIn, Chat: chat, At: in.at,
		Category: cmp.Or(v.Get("title").Text(), "notification_messages"), Text: v.Get("payload").ID(),
	}
	if v.Get("notification_messages_status").Text() == "STOP_NOTIFICATIONS" {
		change.What = provider.ContactOptedOut
	}
	r.Report(change)
}
