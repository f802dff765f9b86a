package messenger

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// nth returns the id of a further part of a message.
func nth(id string, i int) string { return id + apart + strconv.Itoa(i+1) }

// contents returns the parts of a message, at least one.
func contents(v graph.Value) []provider.Content {
	text := v.Get("text")
	if reply := v.Get("quick_reply"); reply.Object() {
		return []provider.Content{provider.Reply{ID: reply.Get("payload").ID(), Title: text.Text(), To: provider.ReplyQuick}}
	}
	if v.Get("is_unsupported").Flag() {
		return []provider.Content{provider.Unknown{}}
	}
	parts := attachments(v.Get("attachments"))
	switch {
	case len(parts) > 0:
		return described(parts, text.Text())
	case jsonscan.Kind(text) == '"':
		return []provider.Content{provider.Text{Text: text.Text()}}
	}
	return []provider.Content{provider.Unknown{Kind: "message", Body: json.RawMessage(v)}}
}

// described adds the text of a message to its first part, or puts it before a
// part that cannot have a text.
func described(parts []provider.Content, text string) []provider.Content {
	if text == "" {
		return parts
	}
	switch c := parts[0].(type) {
	case provider.Media:
		if c.Kind != provider.Audio && c.Kind != provider.Sticker {
			c.Caption = text
			parts[0] = c
			return parts
		}
	case provider.Shared:
		c.Text = text
		parts[0] = c
		return parts
	}
	return append([]provider.Content{provider.Text{Text: text}}, parts...)
}

// attachments reads the attachments. A sticker may be present twice, also as an
// image for programs without stickers.
func attachments(array graph.Value) []provider.Content {
	var parts []provider.Content
	stickers := map[string]bool{}
	for v := range array.Items() {
		if id := v.Get("payload").Get("sticker_id").ID(); id != "" {
			if stickers[id] {
				continue
			}
			stickers[id] = true
		}
		parts = append(parts, attachment(v))
	}
	return parts
}

var mediaKinds = map[string]provider.MediaKind{
	"image": provider.Image, "video": provider.Video, "audio": provider.Audio, "file": provider.Document, "sticker": provider.Sticker,
}

// shares are the types of shared content.
var shares = map[string]bool{
	"fallback": true, "template": true, "post": true, "reel": true,
	"ig_post": true, "ig_reel": true, "share": true, "story_mention": true,
}

func attachment(v graph.Value) provider.Content {
	kind, payload := v.Get("type").Text(), v.Get("payload")
	switch {
	case mediaKinds[kind] != "":
		return file(mediaKinds[kind], payload)
	case shares[kind]:
		return shared(kind, v, payload)
	case kind == "location":
		latitude, ok := payload.Get("coordinates").Get("lat").Float()
		longitude, too := payload.Get("coordinates").Get("long").Float()
		if ok && too {
			return provider.Location{Latitude: latitude, Longitude: longitude, Name: v.Get("title").Text()}
		}
	}
	return provider.Unknown{Kind: kind, Body: json.RawMessage(v)}
}

// file returns a file, which anyone with its address can download for some
// hours or days.
func file(kind provider.MediaKind, payload graph.Value) provider.Content {
	m := provider.Media{Kind: kind, URL: payload.Get("url").Text(), ID: payload.Get("sticker_id").ID()}
	if m.ID != "" {
		m.Kind = provider.Sticker
	}
	if u, err := url.Parse(m.URL); err == nil && kind == provider.Document && u.Path != "" {
		m.FileName = path.Base(u.Path)
	}
	return m
}

// shared reads a link or a card. Newer versions of the network put fields into
// the payload that older versions had next to it.
func shared(kind string, v, payload graph.Value) provider.Content {
	s := provider.Shared{Kind: kind, Title: payload.Get("title").Text(), URL: payload.Get("url").Text()}
	for product := range payload.Get("product").Get("elements").Items() {
		s.Title, s.Detail, s.URL = product.Get("title").Text(), product.Get("subtitle").Text(), product.Get("image_url").Text()
		break
	}
	for card := range payload.Get("elements").Items() {
		s.Title, s.Detail, s.URL = card.Get("title").Text(), card.Get("subtitle").Text(), card.Get("default_action").Get("url").Text()
		break
	}
	for _, text := range []string{payload.Get("text").Text(), v.Get("title").Text()} {
		s.Title = cmp.Or(s.Title, text)
	}
	if s.URL == "" {
		s.URL = v.Get("url").Text()
	}
	return s
}
