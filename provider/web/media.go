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
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// mediaFetcher downloads received files.
type mediaFetcher struct {
	conn    *connection
	retries mediaRetries
}

// handle identifies a file on the network and its key. It is the ID of a
// [provider.Media], as JSON.
type handle struct {
	Kind   provider.MediaKind `json:"kind"`
	Path   string             `json:"path"`
	Key    []byte             `json:"key"`
	Sealed []byte             `json:"sealed"` // SHA-256 of the encrypted file
	SHA256 []byte             `json:"sha256"`
	Size   int64              `json:"size"`

	// The message of the file. The phone needs it to upload the file again when
	// the network has deleted it.
	Message string `json:"message,omitempty"`
	Chat    string `json:"chat,omitempty"`
	Sender  string `json:"sender,omitempty"` // in a group
	Mine    bool   `json:"mine,omitempty"`
}

// mediaTypes are whatsmeow's types of files, from which keys are derived.
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

// mediaOf returns the file that a message carries, or nil.
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

// from adds the message of a file to the file's handle.
func from(content provider.Content, info types.MessageInfo) provider.Content {
	m, ok := content.(provider.Media)
	var h handle
	if !ok || json.Unmarshal([]byte(m.ID), &h) != nil {
		return content
	}
	m.ID = raw(h.named(info))
	return m
}

// Fetch downloads and decrypts a received file. It uses a temporary file because
// the checksum is known only at the end.
func (mf *mediaFetcher) Fetch(ctx context.Context, m provider.Media, w io.Writer) (provider.File, error) {
	var h handle
	if err := json.Unmarshal([]byte(m.ID), &h); err != nil {
		return provider.File{}, &provider.Rejected{Code: "media", Message: "The keys of the file are missing."}
	}
	c, err := mf.conn.connected(ctx)
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
	if err := mf.download(ctx, c, h, f); err != nil {
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

// download downloads a file. If the network has deleted it, the phone is asked
// to upload it again.
func (mf *mediaFetcher) download(ctx context.Context, c *whatsmeow.Client, h handle, f *os.File) error {
	get := func(path string) error {
		return c.DownloadMediaWithPathToFile(ctx, path, h.Sealed, h.SHA256, h.Key, mediaTypes[h.Kind], "", len(h.SHA256) == 0, f)
	}
	err := get(h.Path)
	if !missingFile(err) {
		return fetchError(err)
	}
	path, err := mf.reupload(ctx, c, h)
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

// missingFile reports whether the network does not have a file any more.
func missingFile(err error) bool {
	return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) || errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403)
}

// fetchError returns the error of the contract for a failed download.
func fetchError(err error) error {
	switch {
	case err == nil:
		return nil
	case missingFile(err):
		return errGone
	case errors.Is(err, whatsmeow.ErrInvalidMediaSHA256), errors.Is(err, whatsmeow.ErrInvalidMediaHMAC),
		errors.Is(err, whatsmeow.ErrInvalidMediaEncSHA256):
		return fmt.Errorf("%w: %w", provider.ErrMismatch, &provider.Temporary{Err: err})
	}
	return &provider.Temporary{Err: err}
}

// phoneTimeout is how long the account's phone may take to upload a file again.
// The phone may be switched off; a later download can then succeed.
const phoneTimeout = 30 * time.Second

// errGone says that neither the network nor the phone has a file.
var errGone = &provider.Rejected{Code: "gone", Message: "WhatsApp does not have the file any more."}

// mediaRetries are the downloads that wait for the phone to upload a file again,
// by the id of the file's message.
type mediaRetries struct {
	mu      sync.Mutex
	waiting map[types.MessageID][]chan *events.MediaRetry
}

func (a *mediaRetries) wait(id types.MessageID) (answer <-chan *events.MediaRetry, end func()) {
	ch := make(chan *events.MediaRetry, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[types.MessageID][]chan *events.MediaRetry{}
	}
	a.waiting[id] = append(a.waiting[id], ch)
	return ch, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for i, other := range a.waiting[id] {
			if other == ch {
				a.waiting[id] = append(a.waiting[id][:i], a.waiting[id][i+1:]...)
				break
			}
		}
		if len(a.waiting[id]) == 0 {
			delete(a.waiting, id)
		}
	}
}

// answer hands the phone's answer to the downloads that wait for it.
func (a *mediaRetries) answer(e *events.MediaRetry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ch := range a.waiting[e.MessageID] {
		select {
		case ch <- e:
		default: // it already has an answer
		}
	}
}

// reupload asks the account's phone to upload a file again, and returns its new
// path.
func (mf *mediaFetcher) reupload(ctx context.Context, c *whatsmeow.Client, h handle) (path string, err error) {
	info, ok := h.message()
	if !ok {
		return "", errGone
	}
	answer, end := mf.retries.wait(info.ID)
	defer end()
	if err := c.SendMediaRetryReceipt(ctx, &info, h.Key); err != nil {
		return "", &provider.Temporary{Err: errors.New(redacted(err))}
	}
	late := time.NewTimer(phoneTimeout)
	defer late.Stop()
	select {
	case e := <-answer:
		return answered(e, h.Key)
	case <-late.C:
		return "", &provider.Temporary{Err: errors.New("the phone did not answer whether it has the file")}
	case <-mf.conn.ctx.Done():
		return "", &provider.Temporary{Err: errClosed}
	case <-ctx.Done():
		return "", &provider.Temporary{Err: ctx.Err()}
	}
}

// answered reads the phone's answer.
func answered(e *events.MediaRetry, key []byte) (path string, err error) {
	n, err := whatsmeow.DecryptMediaRetryNotification(e, key)
	switch {
	case errors.Is(err, whatsmeow.ErrMediaNotAvailableOnPhone):
		return "", errGone
	case err != nil:
		return "", &provider.Temporary{Err: fmt.Errorf("reading the phone's answer about a file: %w", err)}
	}
	switch n.GetResult() {
	case waMmsRetry.MediaRetryNotification_SUCCESS:
		return n.GetDirectPath(), nil
	case waMmsRetry.MediaRetryNotification_NOT_FOUND:
		return "", errGone
	}
	return "", &provider.Temporary{Err: fmt.Errorf("the phone could not upload a file: %s", n.GetResult())}
}

// message returns the message of the file; ok is false when it is not known.
func (h handle) message() (info types.MessageInfo, ok bool) {
	chat, err := types.ParseJID(h.Chat)
	if h.Message == "" || err != nil {
		return info, false
	}
	info.ID, info.Chat, info.IsFromMe, info.IsGroup = h.Message, chat, h.Mine, chat.Server == types.GroupServer
	if info.IsGroup {
		info.Sender, err = types.ParseJID(h.Sender)
	}
	return info, err == nil
}

// named returns the handle with the message of the file.
func (h handle) named(info types.MessageInfo) handle {
	h.Message, h.Chat, h.Mine = info.ID, info.Chat.ToNonAD().String(), info.IsFromMe
	if info.IsGroup {
		h.Sender = info.Sender.ToNonAD().String()
	}
	return h
}
