package graphtest

import (
	"context"
	"strconv"
)

// Sample is an example of a change that a number receives.
type Sample struct {
	Name    string         // such as "image", "history" or "template paused"
	Field   string         // of the change
	Value   map[string]any // of the change, without the number's metadata
	Account bool           // the change concerns the business account, not one number
}

// PostSample posts a sample for a number or its account, as [Server.Write] does.
func (s *Server) PostSample(ctx context.Context, number string, x Sample) error {
	if x.Account {
		return s.PostAccountChange(ctx, number, x.Field, x.Value)
	}
	return s.PostChange(ctx, number, x.Field, x.Value)
}

// Samples returns one sample of each kind of change that a number receives.
// Each call makes new ids.
func Samples(contact string) []Sample {
	b := &sampler{contact: contact}
	b.messages()
	b.reports()
	b.account()
	return b.samples
}

type sampler struct {
	contact string
	samples []Sample
}

type object = map[string]any

const sampleTime = 1760000000

func (b *sampler) add(name, field string, account bool, value object) {
	b.samples = append(b.samples, Sample{Name: name, Field: field, Value: value, Account: account})
}

// stated returns a message of the contact.
func (b *sampler) stated(kind string, body any, more object) object {
	m := object{"from": b.contact, "id": newID(), "timestamp": strconv.Itoa(sampleTime), "type": kind}
	if body != nil {
		m[kind] = body
	}
	for name, value := range more {
		m[name] = value
	}
	return m
}

func (b *sampler) message(name, kind string, body any, more object) {
	b.add(name, "messages", false, object{
		"contacts": []any{object{"profile": object{"name": "Sample"}, "wa_id": b.contact}},
		"messages": []any{b.stated(kind, body, more)},
	})
}

func (b *sampler) messages() {
	file := func(id, mime string) object {
		return object{"id": id, "mime_type": mime, "sha256": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
	}
	quoted := object{"context": object{"id": "wamid.quoted", "from": "15550783881"}}
	b.message("text", "text", object{"body": "Hello"}, nil)
	b.message("image", "image", file("1001", "image/jpeg"), nil)
	b.message("video", "video", file("1002", "video/mp4"), object{"context": object{"forwarded": true}})
	b.message("audio", "audio", file("1003", "audio/mpeg"), object{"context": object{"frequently_forwarded": true}})
	b.message("voice note", "audio", object{"id": "1004", "mime_type": "audio/ogg; codecs=opus", "voice": true}, nil)
	b.message("document", "document", object{"id": "1005", "mime_type": "application/pdf", "filename": "offer.pdf", "caption": "Our offer"}, nil)
	b.message("sticker", "sticker", object{"id": "1006", "mime_type": "image/webp", "animated": false}, nil)
	b.message("lost file", "video", nil, object{"errors": []any{object{"code": 131052, "title": "Media download error"}}})
	b.message("location", "location", object{"latitude": 50.73, "longitude": 7.1, "name": "Bonn"}, nil)
	b.message("contacts", "contacts", []any{object{"name": object{"formatted_name": "Eva Roth"}, "phones": []any{object{"phone": "+49 228 555", "type": "WORK"}}}}, nil)
	b.message("reaction", "reaction", object{"message_id": "wamid.quoted", "emoji": "👍"}, nil)
	b.message("reaction removed", "reaction", object{"message_id": "wamid.quoted", "emoji": ""}, nil)
	b.message("button", "interactive", object{"type": "button_reply", "button_reply": object{"id": "yes", "title": "Yes"}}, quoted)
	b.message("row", "interactive", object{"type": "list_reply", "list_reply": object{"id": "1", "title": "One", "description": "The first"}}, quoted)
	b.message("flow", "interactive", object{"type": "nfm_reply", "nfm_reply": object{"name": "flow", "body": "Sent", "response_json": `{"flow_token":"t"}`}}, quoted)
	b.message("call permission", "interactive", object{"type": "call_permission_reply", "call_permission_reply": object{"response": "accept"}}, quoted)
	b.message("template button", "button", object{"text": "Stop", "payload": "STOP"}, quoted)
	b.message("order", "order", object{"catalog_id": "1", "product_items": []any{object{"product_retailer_id": "p", "quantity": 2, "item_price": 12.5, "currency": "EUR"}}}, nil)
	b.message("referral", "text", object{"body": "More, please"}, object{"referral": object{"source_type": "ad", "source_id": "12", "source_url": "https://fb.me/x", "ctwa_clid": "c"}})
	b.message("product", "text", object{"body": "Is it there?"}, object{"context": object{"referred_product": object{"catalog_id": "1", "product_retailer_id": "p"}}})
	b.message("opened", "request_welcome", nil, nil)
	b.message("group", "text", object{"body": "Hello all"}, object{"group_id": "Y2Fwc2FtcGxl"})
	b.message("edit", "edit", object{"original_message_id": "wamid.quoted", "message": object{"type": "text", "text": object{"body": "I meant Monday"}}}, nil)
	b.message("revoke", "revoke", object{"original_message_id": "wamid.quoted"}, nil)
	b.message("unsupported", "unsupported", object{"type": "poll_creation"}, object{"errors": []any{object{"code": 131051, "title": "Message type unknown"}}})
	b.message("unknown", "hologram", object{"id": "1"}, nil)
	b.message("new number", "system", object{"type": "user_changed_number", "body": "Changed", "wa_id": "9" + b.contact}, nil)
	b.message("new identity", "system", object{"type": "customer_identity_changed", "body": "Changed"}, nil)
}

// reports are samples about one number and its contacts.
func (b *sampler) reports() {
	at := strconv.Itoa(sampleTime)
	call := func(event string, more object) object {
		c := object{"id": "wacid.sample", "from": b.contact, "to": "15550783881", "event": event, "direction": "USER_INITIATED", "timestamp": at}
		for name, value := range more {
			c[name] = value
		}
		return object{"calls": []any{c}}
	}
	echo := func(id string) object {
		return object{"from": "15550783881", "to": b.contact, "id": id, "timestamp": at, "type": "text", "text": object{"body": "From the phone"}}
	}
	b.add("echo", "smb_message_echoes", false, object{"message_echoes": []any{echo(newID())}})
	b.add("history", "history", false, object{"history": []any{object{
		"metadata": object{"phase": 0, "chunk_order": 1, "progress": 55},
		"threads": []any{object{"id": b.contact, "messages": []any{
			echo(newID()), b.stated("text", object{"body": "Long ago"}, nil), b.stated("media_placeholder", nil, nil),
		}}},
	}}})
	b.add("history declined", "history", false, object{"history": []any{object{"errors": []any{object{"code": 2593109, "title": "Turned off"}}}}})
	b.add("contact saved", "smb_app_state_sync", false, object{"state_sync": []any{object{
		"type": "contact", "action": "add", "contact": object{"full_name": "Sample", "phone_number": b.contact}, "metadata": object{"timestamp": at},
	}}})
	b.add("call", "calls", false, call("connect", nil))
	b.add("call ended", "calls", false, call("terminate", object{"status": "COMPLETED", "start_time": at, "duration": 80}))
	b.add("call answered", "calls", false, object{"statuses": []any{object{"id": "wacid.ours", "type": "call", "status": "ACCEPTED", "timestamp": at, "recipient_id": b.contact}}})
	b.add("opt-out", "user_preferences", false, object{"user_preferences": []any{object{"wa_id": b.contact, "category": "marketing_messages", "value": "stop", "timestamp": sampleTime}}})
	b.add("new user id", "user_id_update", false, object{"user_id_update": []any{object{"wa_id": b.contact, "user_id": object{"previous": "US.1", "current": "US.2"}, "timestamp": at}}})
	b.add("group joined", "group_participants_update", false, object{"groups": []any{object{"group_id": "Y2Fwc2FtcGxl", "type": "group_participants_add", "timestamp": at, "added_participants": []any{object{"wa_id": b.contact}}}}})
	b.add("number error", "messages", false, object{"errors": []any{object{"code": 130429, "title": "Rate limit hit"}}})
}

// account returns samples about the whole account.
func (b *sampler) account() {
	template := func(more object) object {
		t := object{"message_template_id": 1700100200300400500, "message_template_name": "hello", "message_template_language": "en_US"}
		for name, value := range more {
			t[name] = value
		}
		return t
	}
	b.add("template paused", "message_template_status_update", true, template(object{"event": "PAUSED", "reason": "NONE", "other_info": object{"title": "FIRST_PAUSE"}}))
	b.add("template quality", "message_template_quality_update", true, template(object{"new_quality_score": "YELLOW"}))
	b.add("template category", "template_category_update", true, template(object{"new_category": "MARKETING"}))
	b.add("template components", "message_template_components_update", true, template(object{"message_template_element": "Hello {{1}}"}))
	b.add("account restricted", "account_update", true, object{"event": "ACCOUNT_RESTRICTION", "restriction_info": []any{object{"restriction_type": "RESTRICTED_BIZ_INITIATED_MESSAGING"}}})
	b.add("account reviewed", "account_review_update", true, object{"decision": "APPROVED"})
	b.add("number flagged", "phone_number_quality_update", true, object{"display_phone_number": "15550783881", "event": "FLAGGED", "current_limit": "TIER_1K"})
	b.add("name refused", "phone_number_name_update", true, object{"display_phone_number": "15550783881", "decision": "REJECTED", "requested_verified_name": "Shop"})
	b.add("capability", "business_capability_update", true, object{"max_daily_conversations_per_business": 2000})
	b.add("username", "business_username_update", true, object{"display_phone_number": "15550783881", "username": "shop", "status": "approved"})
	b.add("unknown field", "brand_new_field", true, object{"x": 1})
}
