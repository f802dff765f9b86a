package attachment

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// describe adds to a message what is known of its file.
func (k *Stored) describe(m provider.Media) provider.Media {
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
func (k *Stored) fits(m provider.Media, limit int64) error {
	family, _, _ := strings.Cut(k.Type, "/")
	want := string(m.Kind)
	switch m.Kind {
	case provider.Document:
		want = family
	case provider.Sticker:
		want = string(provider.Image)
	}
	if family != want && !(m.Kind == provider.Audio && strings.HasPrefix(k.Type, "application/ogg")) {
		return &payload.Invalid{Field: "message.mediaId", Message: "is the id of a file of type " + k.Type + ", which cannot be sent as " + m.Type()}
	}
	if limit > 0 && k.Size > limit {
		return tooLong(m, limit)
	}
	return nil
}
