package provider

import (
	"context"
	"io"
)

// MediaKind is what a file is to the person who sees it. It is the content
// type of a [Media].
type MediaKind string

// The kinds of files.
const (
	Image    MediaKind = "image"
	Video    MediaKind = "video"
	Audio    MediaKind = "audio"
	Document MediaKind = "document"
	Sticker  MediaKind = "sticker"
	// Placeholder takes the place, in imported history, of a file of which the network
	// says nothing yet. A later message of the same id brings it, or none.
	Placeholder MediaKind = "media_placeholder"
)

// Media is a message that is a file.
//
// To send it one of Open and URL is set, where a program without messaging may
// give the network's own ID instead. Received it has an ID, or where the
// network's files lie open a URL; neither when the network could not have the
// file itself, which [Message.Error] explains.
type Media struct {
	Kind     MediaKind `json:"-"`
	StoredID string    `json:"mediaId,omitempty"` // of the media store, as users write it; providers ignore it
	URL      string    `json:"url,omitempty"`
	Caption  string    `json:"caption,omitempty"`
	FileName string    `json:"fileName,omitempty"`
	Voice    bool      `json:"voice,omitempty"` // audio that was spoken into the chat
	// ID is the network's handle of the file: whatever the kind of reference needs
	// to fetch it. It means nothing to anybody else and may not live long.
	ID   string `json:"-"`
	File `json:"-"`
	// Open returns the bytes to send. It may be called again for a repeat.
	Open func(ctx context.Context) (io.ReadCloser, error) `json:"-"`
}

// Type is the kind of file.
func (m Media) Type() string { return string(m.Kind) }

// File is what is known of a file without having it: nothing here is more than
// a promise of the sender. Zero values are not known.
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
	Waveform  []byte `json:"waveform,omitempty"`  // of a voice note, a byte of 0–100 each
}
