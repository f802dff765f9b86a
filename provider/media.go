package provider

import (
	"context"
	"io"
)

// MediaKind is the kind of a file as the recipient sees it. It is the content
// type of a [Media].
type MediaKind string

// The kinds of files.
const (
	Image    MediaKind = "image"
	Video    MediaKind = "video"
	Audio    MediaKind = "audio"
	Document MediaKind = "document"
	Sticker  MediaKind = "sticker"
	// Placeholder is a file in imported history that the network has not
	// delivered yet. A later message with the same id may have it.
	Placeholder MediaKind = "media_placeholder"
)

// Media is a message that is a file.
//
// To send it, Open or URL is set, or the network's own ID by a program without
// messaging. A received file has an ID, or a URL where the network serves it.
// It has neither if the network does not have the file, which [Message.Error]
// explains.
type Media struct {
	Kind     MediaKind `json:"-"`
	StoredID string    `json:"mediaId,omitempty"` // id in the media store, as users write it; providers ignore it
	URL      string    `json:"url,omitempty"`
	Caption  string    `json:"caption,omitempty"`
	FileName string    `json:"fileName,omitempty"`
	Voice    bool      `json:"voice,omitempty"` // audio that was recorded in the chat
	// ID is the network's handle of the file: what this kind of reference needs
	// to fetch it. Only the provider understands it, and it may expire.
	ID   string `json:"-"`
	File `json:"-"`
	// Open returns the bytes to send. It may be called again for a retry.
	Open func(ctx context.Context) (io.ReadCloser, error) `json:"-"`
}

// Type is the kind of file.
func (m Media) Type() string { return string(m.Kind) }

// File describes a file. The values are claims of the sender, and zero values
// are not known.
type File struct {
	MIME      string `json:"mime,omitempty"` // may have parameters: "audio/ogg; codecs=opus"
	Size      int64  `json:"size,omitempty"` // bytes
	SHA256    []byte `json:"sha256,omitempty"`
	Title     string `json:"title,omitempty"`    // of a document
	Animated  bool   `json:"animated,omitempty"` // a sticker
	Width     int    `json:"width,omitempty"`    // pixels
	Height    int    `json:"height,omitempty"`
	Seconds   int    `json:"seconds,omitempty"`
	Pages     int    `json:"pages,omitempty"`
	Thumbnail []byte `json:"thumbnail,omitempty"` // JPEG
	Waveform  []byte `json:"waveform,omitempty"`  // of a voice note, values of 0 to 100
}
