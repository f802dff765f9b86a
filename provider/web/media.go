package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

// handle is what it takes to fetch a file: it is in [provider.Media]'s ID.
type handle struct {
	Kind   provider.MediaKind `json:"kind"`
	Path   string             `json:"path"`
	Key    []byte             `json:"key"`
	Sealed []byte             `json:"sealed"` // SHA-256 of what the network keeps
	SHA256 []byte             `json:"sha256"`
	Size   int64              `json:"size"`

	// The message that it came with, by which the phone is asked for it when
	// the network has lost it.
	Message string `json:"message,omitempty"`
	Chat    string `json:"chat,omitempty"`
	Sender  string `json:"sender,omitempty"` // in a group
	Mine    bool   `json:"mine,omitempty"`
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
		m.ID = raw(handle{
			Kind: kind, Path: x.GetDirectPath(), Key: x.GetMediaKey(), Sealed: x.GetFileEncSHA256(), SHA256: x.GetFileSHA256(), Size: size,
		})
	}
	return m
}

// from notes in the handle of a message's file which message that is.
func from(content provider.Content, info types.MessageInfo) provider.Content {
	m, ok := content.(provider.Media)
	var h handle
	if !ok || json.Unmarshal([]byte(m.ID), &h) != nil {
		return content
	}
	m.ID = raw(h.named(info))
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
	if err := s.download(ctx, c, h, f); err != nil {
		return provider.File{}, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return provider.File{}, &provider.Temporary{Err: err}
	}
	digest := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, digest), f)
	if err != nil {
		return provider.File{}, fmt.Errorf("web: copying a file: %w", err)
	}
	return provider.File{SHA256: digest.Sum(nil), Size: n}, nil
}

// download gets a file from the network. What that has lost is asked of the
// phone.
func (s *session) download(ctx context.Context, c *whatsmeow.Client, h handle, f *os.File) error {
	get := func(path string) error {
		return c.DownloadMediaWithPathToFile(ctx, path, h.Sealed, h.SHA256, h.Key, mediaTypes[h.Kind], "", len(h.SHA256) == 0, f)
	}
	err := get(h.Path)
	if !lost(err) {
		return fetchError(err)
	}
	path, err := s.reuploaded(ctx, c, h)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return &provider.Temporary{Err: err}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return &provider.Temporary{Err: err}
	}
	return fetchError(get(path))
}

// lost reports whether the network does not have a file any more.
func lost(err error) bool {
	return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) || errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403)
}

// fetchError says whether another try may bring a file.
func fetchError(err error) error {
	switch {
	case err == nil:
		return nil
	case lost(err):
		return errGone
	case errors.Is(err, whatsmeow.ErrInvalidMediaSHA256), errors.Is(err, whatsmeow.ErrInvalidMediaHMAC),
		errors.Is(err, whatsmeow.ErrInvalidMediaEncSHA256):
		return fmt.Errorf("%w: %w", provider.ErrMismatch, &provider.Temporary{Err: err})
	}
	return &provider.Temporary{Err: err}
}
