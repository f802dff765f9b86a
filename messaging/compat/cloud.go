package compat

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// cloud is Meta's WhatsApp Cloud API:
// https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components
var cloud = &Format{
	Name: "cloud", types: []messaging.EventType{messaging.EventMessage, messaging.EventStatus},
	has: cloudHas, body: cloudBody, headers: cloudHeaders,
}

// cloudStatuses are Meta's names of the statuses of sent messages.
var cloudStatuses = map[string]string{"SENDING": "sent", "DELIVERED": "delivered", "READ": "read", "PLAYED": "played", "FAIL": "failed"}

// cloudHas is true for what contacts write, and for the statuses of own messages.
func cloudHas(t *published) bool {
	switch {
	case t.status != nil:
		return t.status.Mine && cloudStatuses[t.status.Status] != ""
	case t.message != nil:
		return !t.message.Mine
	}
	return false
}

// cloudHeaders is the signature of the body.
func cloudHeaders(s Signed) http.Header {
	if s.Key == nil {
		return nil
	}
	mac := hmac.New(sha256.New, s.Key)
	_, _ = mac.Write(s.Body) // never fails
	return http.Header{"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}
}

func cloudBody(t *published) any {
	number := cmp.Or(t.Reference.Number, t.Reference.ID)
	value := object{
		"messaging_product": "whatsapp",
		"metadata":          object{"display_phone_number": cloudID(t.Reference.Self), "phone_number_id": number},
	}
	if t.status != nil {
		value["statuses"] = []object{t.cloudStatus()}
	} else {
		from, name := t.cloudSender()
		value["contacts"] = []object{{"profile": object{"name": name}, "wa_id": from}}
		value["messages"] = []object{t.cloudMessage(from)}
	}
	return object{"object": "whatsapp_business_account", "entry": []object{{
		"id": cmp.Or(t.Reference.Business, t.Reference.ID), "changes": []object{{"field": "messages", "value": value}},
	}}}
}

// cloudID is an address as Meta writes it: a phone number in digits. Ids of other
// networks stay, so that they can be answered.
func cloudID(address string) string { return strings.TrimSuffix(address, people) }

// cloudSender returns who wrote the message, and the name.
func (t *published) cloudSender() (id, name string) {
	chat := t.chat(t.message.RemoteJID)
	return cloudID(cmp.Or(t.sender(chat), chat)), t.author()
}

func cloudTime(at messaging.UnixTime) string { return strconv.FormatInt(at.Unix(), 10) }

func (t *published) cloudStatus() object {
	s := t.status
	out := object{
		"id": s.ID, "status": cloudStatuses[s.Status], "timestamp": cloudTime(s.At), "recipient_id": cloudID(t.chat(s.RemoteJID)),
		"biz_opaque_callback_data": s.ClientID,
	}
	if s.Status == "FAIL" {
		code, title := 131000, "Something went wrong"
		if s.Error != nil {
			title = s.Error.Message
			if n, err := strconv.Atoi(s.Error.Code); err == nil { // Meta's own
				code = n
			}
		}
		out["errors"] = []object{{"code": code, "title": title, "message": title, "error_data": object{"details": title}}}
	}
	return stripped(out)
}

func (t *published) cloudMessage(from string) object {
	m := t.message
	kind, content := t.cloudContent()
	out := object{"from": from, "id": m.ID, "timestamp": cloudTime(m.MessageTimestamp), "type": kind}
	if kind == "unsupported" {
		out["errors"] = []object{{"code": 131051, "title": "Message type unknown", "message": "Message type unknown"}}
	} else {
		out[kind] = content
	}
	if chat := t.chat(m.RemoteJID); isGroup(chat) {
		out["group_id"] = strings.TrimSuffix(chat, groups)
	}
	if c := m.Context; c != nil && m.Reaction == nil {
		out["context"] = stripped(object{"id": c.MessageID, "forwarded": c.Forwarded})
	}
	if len(m.Referral) > 0 {
		out["referral"] = m.Referral
	}
	return out
}

// cloudContent is the type of a message, and the member of that name.
func (t *published) cloudContent() (kind string, content any) {
	m := t.message
	switch {
	case m.Reaction != nil:
		return "reaction", stripped(object{"message_id": m.Reaction.MessageID, "emoji": m.Reaction.Emoji})
	case m.Revoked != nil:
		return "revoke", object{"original_message_id": m.Revoked.MessageID}
	case m.Edited != nil:
		kind, now := t.cloudSaid()
		return "edit", object{"original_message_id": m.Edited.MessageID, "message": object{"type": kind, kind: now}}
	}
	return t.cloudSaid()
}

func (t *published) cloudSaid() (kind string, content any) {
	m := t.message
	switch {
	case isMedia(m):
		return t.cloudFile()
	case m.Location != nil:
		return "location", stripped(object{
			"latitude": m.Location.Latitude, "longitude": m.Location.Longitude, "name": m.Location.Name, "address": m.Location.Address,
		})
	case len(m.Contacts) > 0:
		return "contacts", cloudCards(m.Contacts)
	case m.Reply != nil:
		return "interactive", object{"type": "button_reply", "button_reply": object{"id": m.Reply.ID, "title": cmp.Or(m.Reply.Title, m.Text)}}
	case m.Form != nil:
		return "interactive", object{"type": "nfm_reply", "nfm_reply": object{"name": m.Form.Name, "body": m.Text, "response_json": string(m.Form.Data)}}
	case m.Order != nil:
		return "order", cloudOrder(m.Order)
	case m.Poll != nil, m.Unsupported != nil:
		return "unsupported", nil
	}
	return "text", object{"body": m.Text}
}

// cloudFile is a file. Its id is that of the file here, as GET /v23.0/{id} takes it.
func (t *published) cloudFile() (kind string, content any) {
	m := t.message
	if kind = m.Type; m.Sticker {
		kind = "sticker"
	}
	if m.FileURL == "" {
		return "unsupported", nil
	}
	parts := strings.Split(m.FileURL, "/") // files/ID/…
	return kind, stripped(object{
		"id": parts[min(1, len(parts)-1)], "url": t.file(), "mime_type": m.MimeType, "caption": m.Caption, "filename": m.FileName,
		"voice": m.Type == messaging.TypeAudio && m.Waveform != "",
	})
}

func cloudOrder(o *provider.Order) object {
	items := make([]object, len(o.Items))
	for i, p := range o.Items {
		items[i] = stripped(object{"product_retailer_id": p.ProductID, "quantity": p.Quantity, "item_price": p.Price, "currency": p.Currency})
	}
	return stripped(object{"catalog_id": o.CatalogID, "text": o.Text, "product_items": items})
}

// cloudCards are cards whose members have Meta's names: "formatted_name".
func cloudCards(cards []provider.Card) any {
	raw, err := json.Marshal(cards)
	if err != nil {
		return []object{}
	}
	var v any
	_ = json.Unmarshal(raw, &v) // it has just been written
	return snaked(v)
}

// snaked is a value whose members have underscores: formattedName is formatted_name.
func snaked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := object{}
		for name, value := range v {
			out[snake(name)] = snaked(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = snaked(v[i])
		}
	}
	return v
}

func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
