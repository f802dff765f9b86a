package graphtest

import (
	"context"
	"fmt"
)

// PageSample is an example of an event that a page receives.
type PageSample struct {
	Name    string
	Item    map[string]any // without the page; nil with a Change
	Standby bool
	Change  map[string]any // of the page itself
}

// PostSample posts a sample for a page ("": the first), as [Pages.Write] does.
func (ps *Pages) PostSample(ctx context.Context, page string, x PageSample) error {
	p, known := ps.find(page)
	if !known {
		return fmt.Errorf("graphtest: no page %q", page)
	}
	if x.Change != nil {
		return ps.post(ctx, p, map[string]any{"changes": []any{x.Change}})
	}
	return ps.postItem(ctx, p, x.Item, x.Standby)
}

// PageSamples returns one sample of each kind of event that a page receives.
// page is the page's id. Each sample has its own ids.
func PageSamples(page, contact string) []PageSample {
	b := &pageSampler{page: page, contact: contact}
	b.messages()
	b.attachments()
	b.events()
	b.samples = append(b.samples, PageSample{Name: "page change", Change: object{"field": "feed", "value": object{"item": "status", "verb": "add"}}})
	return b.samples
}

type pageSampler struct {
	page, contact string
	samples       []PageSample
}

// add adds an event of the contact.
func (b *pageSampler) add(name, member string, value object) {
	b.samples = append(b.samples, PageSample{Name: name, Item: object{
		"sender": person(b.contact), "timestamp": int64(sampleTime)*1000 + int64(len(b.samples)), member: value,
	}})
}

func (b *pageSampler) message(name string, members object) {
	members["mid"] = newMid()
	b.add(name, "message", members)
}

func (b *pageSampler) messages() {
	b.message("text", object{"text": "Hello 👋"})
	b.message("quick reply", object{"text": "Yes", "quick_reply": object{"payload": "yes"}})
	b.message("reply", object{"text": "That one", "reply_to": object{"mid": "m_quoted"}})
	b.message("command", object{"text": "flights to Bonn", "commands": []any{object{"name": "flights"}}})
	b.message("ad", object{"text": "More, please", "referral": object{"ref": "summer", "ad_id": "12", "source": "ADS", "type": "OPEN_THREAD"}})
	b.message("product", object{"text": "Is it there?", "referral": object{"product": object{"id": "77"}}})
	b.message("deleted", object{"is_deleted": true})
	b.message("unsupported", object{"is_unsupported": true})
	b.add("edit", "message_edit", object{"mid": "m_quoted", "text": "I meant Monday", "num_edit": 1})
	for _, app := range []string{"", "555300000000001"} {
		echo := object{"mid": newMid(), "text": "From the page", "is_echo": true}
		put(echo, "app_id", app)
		b.samples = append(b.samples, PageSample{Name: "echo " + app, Item: object{
			"sender": person(b.page), "recipient": person(b.contact), "timestamp": int64(sampleTime) * 1000, "message": echo,
		}})
	}
	standby := PageSample{Name: "standby", Standby: true, Item: object{
		"sender": person(b.contact), "timestamp": int64(sampleTime) * 1000, "message": object{"mid": newMid(), "text": "To somebody else"},
	}}
	b.samples = append(b.samples, standby)
}

func (b *pageSampler) attachments() {
	file := func(kind string) object {
		return object{"type": kind, "payload": object{"url": "https://cdn.example/" + kind + ".bin"}}
	}
	for _, kind := range []string{"image", "video", "audio", "file", "sticker"} {
		b.message(kind, object{"attachments": []any{file(kind)}})
	}
	like := object{"type": "image", "payload": object{"url": "https://cdn.example/like.png", "sticker_id": 369239263222822}}
	b.message("like", object{"sticker_id": 369239263222822, "attachments": []any{like}})
	b.message("two files", object{"text": "Both", "attachments": []any{file("image"), file("video")}})
	b.message("words and a voice", object{"text": "Listen", "attachments": []any{file("audio")}})
	b.message("location", object{"attachments": []any{object{"type": "location", "title": "Bonn", "payload": object{"coordinates": object{"lat": 50.73, "long": 7.1}}}}})
	b.message("link", object{"text": "See https://example.com", "attachments": []any{object{"type": "fallback", "payload": object{"url": "https://example.com", "title": "Example"}}}})
	b.message("old link", object{"attachments": []any{object{"type": "fallback", "title": "Example", "url": "https://example.com", "payload": nil}}})
	b.message("post", object{"attachments": []any{object{"type": "post", "payload": object{"url": "https://www.facebook.com/1", "title": "A post"}}}})
	b.message("reel", object{"attachments": []any{object{"type": "reel", "payload": object{"url": "/reel/1/", "reel_video_id": 1}}}})
	card := object{"title": "Hat", "subtitle": "$40", "image_url": "https://cdn.example/hat.png"}
	b.message("product card", object{"attachments": []any{object{"type": "template", "payload": object{"product": object{"elements": []any{card}}}}}})
	b.message("unknown attachment", object{"attachments": []any{object{"type": "hologram", "payload": object{"id": 1}}}})
}

func (b *pageSampler) events() {
	b.add("postback", "postback", object{"title": "Start", "payload": "GET_STARTED", "mid": newMid()})
	b.add("menu", "postback", object{"title": "Prices", "payload": "PRICES", "referral": object{"ref": "menu", "source": "SHORTLINK", "type": "OPEN_THREAD"}})
	b.add("link opened", "referral", object{"ref": "flyer", "source": "SHORTLINK", "type": "OPEN_THREAD"})
	b.add("plugin", "optin", object{"ref": "newsletter"})
	b.add("notifications allowed", "optin", object{"type": "notification_messages", "payload": "news", "title": "News", "notification_messages_token": "t"})
	b.add("notifications stopped", "optin", object{"type": "notification_messages", "payload": "news", "title": "News", "notification_messages_status": "STOP_NOTIFICATIONS"})
	b.add("reaction", "reaction", object{"mid": "m_quoted", "action": "react", "emoji": "😢", "reaction": "sad"})
	b.add("reaction removed", "reaction", object{"mid": "m_quoted", "action": "unreact"})
	b.add("delivered", "delivery", object{"mids": []any{"m_quoted"}, "watermark": int64(sampleTime) * 1000})
	b.add("read", "read", object{"watermark": int64(sampleTime) * 1000})
	b.add("linked", "account_linking", object{"status": "linked", "authorization_code": "c"})
	b.add("unlinked", "account_linking", object{"status": "unlinked"})
	b.add("passed", "pass_thread_control", object{"previous_owner_app_id": "263902037430900", "new_owner_app_id": "555300000000001"})
	b.add("taken", "take_thread_control", object{"previous_owner_app_id": "555300000000001", "new_owner_app_id": nil})
	b.add("requested", "request_thread_control", object{"requested_owner_app_id": 123456789})
	b.add("game", "game_play", object{"game_id": 1})
	for name, value := range map[string]object{
		"app_roles":          {"123456789": []any{"primary_receiver"}},
		"policy-enforcement": {"action": "unblock", "reason": ""},
	} {
		b.samples = append(b.samples, PageSample{Name: name, Item: object{"timestamp": int64(sampleTime) * 1000, name: value}})
	}
}
