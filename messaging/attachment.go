package messaging

import (
	"encoding/base64"

	"github.com/trunklinehq/trunkline/provider"
)

// attached is a file as far as it is known without having it. Its FileURL is
// for whoever has it.
func attached(m provider.Media) Body {
	b := Body{Attachment: Attachment{
		MimeType: m.MIME, Title: m.Title, FileLength: m.Size, Seconds: int64(m.Seconds), PageCount: int64(m.Pages),
		Height: int64(m.Height), Width: int64(m.Width), FileName: m.FileName, Caption: m.Caption,
		JPEGThumbnail: base64.StdEncoding.EncodeToString(m.Thumbnail), Waveform: base64.StdEncoding.EncodeToString(m.Waveform),
	}}
	switch m.Kind {
	case provider.Image:
		b.Type = TypeImage
	case provider.Sticker:
		b.Type, b.Sticker = TypeImage, true
	case provider.Video:
		b.Type = TypeVideo
	case provider.Audio:
		b.Type = TypeAudio
	case provider.Document:
		b.Type = TypeDocument
	case provider.Placeholder:
		return Body{Text: "A file that is not here yet", Extras: Extras{Unsupported: &provider.Unknown{Kind: string(m.Kind)}}}
	default:
		return receivedText(provider.Unknown{Kind: m.Type()})
	}
	return b
}
