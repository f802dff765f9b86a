package render

import (
	"encoding/base64"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// attached is a file as far as it is known without having it. Its FileURL is
// for all who have it.
func attached(m provider.Media) payload.Body {
	b := payload.Body{Attachment: payload.Attachment{
		MimeType: m.MIME, Title: m.Title, FileLength: m.Size, Seconds: int64(m.Seconds), PageCount: int64(m.Pages),
		Height: int64(m.Height), Width: int64(m.Width), FileName: m.FileName, Caption: m.Caption,
		JPEGThumbnail: base64.StdEncoding.EncodeToString(m.Thumbnail), Waveform: base64.StdEncoding.EncodeToString(m.Waveform),
	}}
	switch m.Kind {
	case provider.Image:
		b.Type = payload.TypeImage
	case provider.Sticker:
		b.Type, b.Sticker = payload.TypeImage, true
	case provider.Video:
		b.Type = payload.TypeVideo
	case provider.Audio:
		b.Type = payload.TypeAudio
	case provider.Document:
		b.Type = payload.TypeDocument
	case provider.Placeholder:
		return payload.Body{Text: "A file that is not available yet", Extras: payload.Extras{Unsupported: &provider.Unknown{Kind: string(m.Kind)}}}
	default:
		return receivedText(provider.Unknown{Kind: m.Type()})
	}
	return b
}
