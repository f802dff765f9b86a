package messaging

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

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

// checkMedia applies the rules that hold on every kind of line.
func checkMedia(m provider.Media) error {
	switch {
	case !slices.Contains(mediaContents, m.Type()):
		return &Invalid{"message.type", "must be a kind of file"}
	case m.StoredID == "" && m.URL == "":
		return &Invalid{"message.mediaId", "is required, or a url"}
	case m.StoredID != "" && m.URL != "":
		return &Invalid{"message.url", "cannot be combined with mediaId"}
	case m.Voice && m.Kind != provider.Audio:
		return &Invalid{"message.voice", "is for audio only"}
	case m.Caption != "" && (m.Kind == provider.Audio || m.Kind == provider.Sticker):
		return &Invalid{"message.caption", "is not a member of this type"}
	}
	if m.URL == "" {
		return nil
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(m.URL) > maxLink {
		return &Invalid{"message.url", "must be an http or https address of at most 2048 characters"}
	}
	return nil
}

// describe adds to a message what is known of its file.
func (k *storedFile) describe(m provider.Media) provider.Media {
	m.MIME, m.Size = k.Type, k.Size
	m.Width, m.Height, m.Seconds, m.Pages = k.Width, k.Height, k.Seconds, k.Pages
	m.Thumbnail, _ = base64.StdEncoding.DecodeString(k.Thumbnail) // ours
	m.Waveform, _ = base64.StdEncoding.DecodeString(k.Waveform)
	m.Title = cmp.Or(m.Title, k.Title)
	if m.Kind == provider.Document && m.FileName == "" {
		m.FileName = k.Name
	}
	if m.Voice && !k.Speech {
		m.MIME, m.Size = voiceNoteType, 0 // what it will be
	}
	return m
}

// fits refuses a file that a message of this kind cannot be.
func (k *storedFile) fits(m provider.Media, most int64) error {
	family, _, _ := strings.Cut(k.Type, "/")
	want := string(m.Kind)
	switch m.Kind {
	case provider.Document:
		want = family
	case provider.Sticker:
		want = string(provider.Image)
	}
	if family != want && !(m.Kind == provider.Audio && strings.HasPrefix(k.Type, "application/ogg")) {
		return &Invalid{"message.mediaId", "names a file of type " + k.Type + ", which cannot be sent as " + m.Type()}
	}
	if most > 0 && k.Size > most {
		return tooLong(m, most)
	}
	return nil
}

// shownFile adds to what was sent where its file is.
func shownFile(content json.RawMessage, body string) json.RawMessage {
	var b Body
	if json.Unmarshal([]byte(body), &b) != nil || b.FileURL == "" {
		return content
	}
	return payload.Join(content, payload.MustEncode(map[string]any{"fileUrl": b.FileURL, "mimetype": b.MimeType}))
}
