package cloud

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// The types of messages are documented at
// https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages

// content returns what a message says, and the id of the message that it edits.
// Content that does not have the form of its type becomes an Unknown.
func (in *incoming) content() (c provider.Content, edits string) {
	body := in.item.Get(in.kind)
	if in.kind != "edit" {
		c = readContent(in.kind, in.item, in.errors != nil)
	} else if edits = body.Get("original_message_id").ID(); edits != "" {
		inner := body.Get("message")
		c = readContent(inner.Get("type").Text(), inner, false)
	}
	if c == nil {
		return in.unknown(), ""
	}
	return c, edits
}

func (in *incoming) unknown() provider.Content {
	kind := in.kind
	switch kind {
	case "unsupported":
		return provider.Unknown{Kind: in.item.Get(kind).Get("type").Text()}
	case "interactive":
		kind = first(in.item.Get(kind).Get("type").Text(), kind)
	}
	return provider.Unknown{Kind: kind, Body: json.RawMessage(in.item)}
}

var mediaKinds = map[string]provider.MediaKind{
	"image": provider.Image, "video": provider.Video, "audio": provider.Audio, "voice": provider.Audio,
	"document": provider.Document, "sticker": provider.Sticker, "media_placeholder": provider.Placeholder,
}

// readContent reads the field of item that has the name of its type; nil if the
// type is not supported. The field may be missing if the network failed to get
// a file.
func readContent(kind string, item graph.Value, failed bool) provider.Content {
	body := item.Get(kind)
	if media, ok := mediaKinds[kind]; ok && (body.Object() || failed || media == provider.Placeholder) {
		return readMedia(media, kind == "voice", body)
	}
	switch {
	case kind == "request_welcome":
		return provider.Opened{}
	case kind == "contacts":
		return readCards(body, item.Get("origin").Text())
	case body.Object():
		return readBody(kind, body)
	}
	return nil
}

func readBody(kind string, body graph.Value) provider.Content {
	switch kind {
	case "text":
		return provider.Text{Text: body.Get("body").Text()}
	case "location":
		return readLocation(body)
	case "interactive":
		return readInteractive(body)
	case "order":
		return readOrder(body)
	case "button":
		text := body.Get("text").Text()
		return provider.Reply{ID: first(body.Get("payload").ID(), text), Title: text, To: provider.ReplyTemplate}
	case "reaction":
		if id := body.Get("message_id").ID(); id != "" {
			return provider.Reaction{MessageID: id, Emoji: body.Get("emoji").Text()}
		}
	case "revoke":
		if id := body.Get("original_message_id").ID(); id != "" {
			return provider.Revoke{MessageID: id}
		}
	}
	return nil
}

func readMedia(kind provider.MediaKind, voice bool, v graph.Value) provider.Content {
	return provider.Media{
		Kind:     kind,
		ID:       v.Get("id").ID(),
		URL:      v.Get("url").Text(),
		Caption:  v.Get("caption").Text(),
		FileName: v.Get("filename").Text(),
		Voice:    voice || v.Get("voice").Flag(),
		File: provider.File{
			MIME:     v.Get("mime_type").Text(),
			SHA256:   digest(v.Get("sha256").Text()),
			Size:     max(0, v.Get("file_size").Int()),
			Animated: v.Get("animated").Flag(),
		},
	}
}

// digest decodes a SHA-256: callbacks have it in base64, answers and old
// callbacks in hexadecimal. Anything else is nil.
func digest(s string) []byte {
	for _, decode := range []func(string) ([]byte, error){base64.StdEncoding.DecodeString, hex.DecodeString} {
		if sum, err := decode(s); err == nil && len(sum) == 32 {
			return sum
		}
	}
	return nil
}

func readLocation(v graph.Value) provider.Content {
	latitude, ok := v.Get("latitude").Float()
	longitude, too := v.Get("longitude").Float()
	if !ok || !too {
		return nil
	}
	return provider.Location{
		Latitude: latitude, Longitude: longitude,
		Name: v.Get("name").Text(), Address: v.Get("address").Text(), URL: v.Get("url").Text(),
	}
}

func readInteractive(body graph.Value) provider.Content {
	kind := body.Get("type").Text()
	v := body.Get(kind)
	if !v.Object() {
		return nil
	}
	switch kind {
	case "button_reply":
		return provider.Reply{ID: v.Get("id").ID(), Title: v.Get("title").Text(), To: provider.ReplyButton}
	case "list_reply":
		return provider.Reply{ID: v.Get("id").ID(), Title: v.Get("title").Text(), Description: v.Get("description").Text(), To: provider.ReplyRow}
	case "nfm_reply":
		return provider.Form{Name: v.Get("name").Text(), Text: v.Get("body").Text(), Data: text(v.Get("response_json"))}
	case "call_permission_reply":
		return provider.Reply{ID: v.Get("response").ID(), To: provider.ReplyPermission, Until: v.Get("expiration_timestamp").Time()}
	}
	return nil
}

// text returns a string as it is, and anything else as JSON.
func text(v graph.Value) string {
	if jsonscan.Kind(v) == '"' {
		return v.Text()
	}
	return string(v)
}

func readOrder(v graph.Value) provider.Content {
	o := provider.Order{CatalogID: v.Get("catalog_id").ID(), Text: v.Get("text").Text()}
	for item := range v.Get("product_items").Items() {
		o.Items = append(o.Items, provider.OrderItem{
			ProductID: item.Get("product_retailer_id").ID(),
			Quantity:  item.Get("quantity").Number(),
			Price:     item.Get("item_price").Number(),
			Currency:  item.Get("currency").Text(),
		})
	}
	return o
}
