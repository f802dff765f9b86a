package render

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// mediaContents are the content types that are files.
var mediaContents = []string{
	string(provider.Image), string(provider.Video), string(provider.Document), string(provider.Audio), string(provider.Sticker),
}

// withMedia adds the decoders of files to those of other contents.
func withMedia(types map[string]func(json.RawMessage) (provider.Content, error)) map[string]func(json.RawMessage) (provider.Content, error) {
	for _, kind := range mediaContents {
		types[kind] = func(raw json.RawMessage) (provider.Content, error) {
			var m provider.Media
			err := decodeStrict(raw, &m)
			m.Kind = provider.MediaKind(kind)
			return m, err
		}
	}
	return types
}

// maxLink is the most bytes of a file's address.
const maxLink = 2048

// checkMedia applies the rules that hold on every kind of reference.
func checkMedia(m provider.Media) error {
	switch {
	case !slices.Contains(mediaContents, m.Type()):
		return &payload.Invalid{Field: "message.type", Message: "must be a kind of file"}
	case m.StoredID == "" && m.URL == "":
		return &payload.Invalid{Field: "message.mediaId", Message: "is required without url"}
	case m.StoredID != "" && m.URL != "":
		return &payload.Invalid{Field: "message.url", Message: "cannot be combined with mediaId"}
	case m.Voice && m.Kind != provider.Audio:
		return &payload.Invalid{Field: "message.voice", Message: "is for audio only"}
	case m.Caption != "" && (m.Kind == provider.Audio || m.Kind == provider.Sticker):
		return &payload.Invalid{Field: "message.caption", Message: "is not a member of this type"}
	}
	if m.URL == "" {
		return nil
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(m.URL) > maxLink {
		return &payload.Invalid{Field: "message.url", Message: "must be an http or https address of at most 2048 characters"}
	}
	return nil
}

// ShownFile adds to what was sent where its file is.
func ShownFile(content json.RawMessage, body string) json.RawMessage {
	var b payload.Body
	if json.Unmarshal([]byte(body), &b) != nil || b.FileURL == "" {
		return content
	}
	return payload.Join(content, payload.MustEncode(map[string]any{"fileUrl": b.FileURL, "mimetype": b.MimeType}))
}
