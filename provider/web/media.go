package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/trunklinehq/trunkline/provider"
)

// handle is what it takes to fetch a file: it stands in [provider.Media]'s ID.
type handle struct {
	Kind   provider.MediaKind `json:"kind"`
	Path   string             `json:"path"`
	Key    []byte             `json:"key"`
	Sealed []byte             `json:"sealed"` // SHA-256 of what the network keeps
	SHA256 []byte             `json:"sha256"`
	Size   int64              `json:"size"`
}

// mediaTypes are whatsmeow's words for the kinds of files: keys depend on them.
var mediaTypes = map[provider.MediaKind]whatsmeow.MediaType{
	provider.Image: whatsmeow.MediaImage, provider.Sticker: whatsmeow.MediaImage, provider.Video: whatsmeow.MediaVideo,
	provider.Audio: whatsmeow.MediaAudio, provider.Document: whatsmeow.MediaDocument,
}

// file is what the messages of files have in common.
type file interface {
	GetDirectPath() string
	GetMediaKey() []byte
	GetFileEncSHA256() []byte
	GetFileSHA256() []byte
	GetFileLength() uint64
	GetMimetype() string
}

// mediaOf is a message that is a file.
func mediaOf(msg *waE2E.Message) provider.Content {
	switch {
	case msg.GetImageMessage() != nil:
		x := msg.GetImageMessage()
		m := media(provider.Image, x)
		m.Caption, m.Width, m.Height, m.Thumbnail = x.GetCaption(), int(x.GetWidth()), int(x.GetHeight()), x.GetJPEGThumbnail()
		return m
	case msg.GetVideoMessage() != nil, msg.GetPtvMessage() != nil:
		x := cmp.Or(msg.GetVideoMessage(), msg.GetPtvMessage())
		m := media(provider.Video, x)
		m.Caption, m.Width, m.Height, m.Thumbnail = x.GetCaption(), int(x.GetWidth()), int(x.GetHeight()), x.GetJPEGThumbnail()
		m.Seconds = int(x.GetSeconds())
		return m
	case msg.GetAudioMessage() != nil:
		x := msg.GetAudioMessage()
		m := media(provider.Audio, x)
		m.Seconds, m.Waveform, m.Voice = int(x.GetSeconds()), x.GetWaveform(), x.GetPTT()
		return m
	case msg.GetDocumentMessage() != nil:
		x := msg.GetDocumentMessage()
		m := media(provider.Document, x)
		m.Caption, m.FileName, m.Title, m.Pages, m.Thumbnail = x.GetCaption(), x.GetFileName(), x.GetTitle(), int(x.GetPageCount()), x.GetJPEGThumbnail()
		return m
	case msg.GetStickerMessage() != nil:
		x := msg.GetStickerMessage()
		m := media(provider.Sticker, x)
		m.Width, m.Height, m.Animated = int(x.GetWidth()), int(x.GetHeight()), x.GetIsAnimated()
		return m
	}
	return nil
}

func media(kind provider.MediaKind, x file) provider.Media {
	size := int64(x.GetFileLength())
	m := provider.Media{Kind: kind, File: provider.File{MIME: x.GetMimetype(), Size: size, SHA256: x.GetFileSHA256()}}
	if x.GetDirectPath() != "" && len(x.GetMediaKey()) > 0 {
		m.ID = raw(handle{kind, x.GetDirectPath(), x.GetMediaKey(), x.GetFileEncSHA256(), x.GetFileSHA256(), size})
	}
	return m
}

// Fetch downloads and opens a received file. It goes through a temporary file:
// whether the network kept it whole is known at its end.
func (s *session) Fetch(ctx context.Context, m provider.Media, w io.Writer) (provider.File, error) {
	var h handle
	if err := json.Unmarshal([]byte(m.ID), &h); err != nil {
		return provider.File{}, &provider.Rejected{Code: "media", Message: "the file's keys are missing"}
	}
	c, err := s.connected(ctx)
	if err != nil {
		return provider.File{}, err
	}
	f, err := os.CreateTemp("", "trunkline-web-*")
	if err != nil {
		return provider.File{}, &provider.Temporary{Err: err}
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	err = c.DownloadMediaWithPathToFile(ctx, h.Path, h.Sealed, h.SHA256, h.Key, mediaTypes[h.Kind], "", len(h.SHA256) == 0, f)
	if err != nil {
		return provider.File{}, fetchError(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return provider.File{}, &provider.Temporary{Err: err}
	}
	n, err := io.Copy(w, f)
	if err != nil {
		return provider.File{}, fmt.Errorf("web: copying a file: %w", err)
	}
	return provider.File{SHA256: h.SHA256, Size: n}, nil
}

// fetchError says whether another try may bring a file.
func fetchError(err error) error {
	switch {
	case errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404), errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410),
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403):
		return &provider.Rejected{Code: "gone", Message: "WhatsApp does not have the file any more"}
	case errors.Is(err, whatsmeow.ErrInvalidMediaSHA256), errors.Is(err, whatsmeow.ErrInvalidMediaHMAC),
		errors.Is(err, whatsmeow.ErrInvalidMediaEncSHA256):
		return fmt.Errorf("%w: %w", provider.ErrMismatch, &provider.Temporary{Err: err})
	}
	return &provider.Temporary{Err: err}
}
