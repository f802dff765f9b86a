package payload

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/provider"
)

// The types of messages in payloads and records. There are no others: what a
// network calls a sticker is an image, a location is a text that says it in
// words, with the structured value in [Extras].
const (
	TypeText     = "text"
	TypeImage    = "image"
	TypeVideo    = "video"
	TypeDocument = "document"
	TypeAudio    = "audio"
)

// Body holds the members of a message that depend on what it is. Its JSON has
// exactly the members of its type, always and never null, and those of
// [Extras] that apply.
type Body struct {
	Type string `json:"type" enum:"text,image,video,document,audio"` // "": text
	Text string `json:"text"`                                        // of a text
	Attachment
	Extras
}

// Attachment holds the members of an image, a video, a document or an audio.
// Each type has its own share of them; what is unknown is "" or 0.
type Attachment struct {
	MimeType string `json:"mimetype" doc:"Media type, possibly with a codecs parameter." example:"image/jpeg"`
	Title    string `json:"title" doc:"Title of the document."`
	// FileLength counts bytes. In JSON it is a number for an image, and a
	// string of digits for the others.
	FileLength    int64  `json:"fileLength" doc:"Size in bytes."`
	Seconds       int64  `json:"seconds" doc:"Duration in seconds."`
	PageCount     int64  `json:"pageCount"`
	Height        int64  `json:"height" doc:"Pixels."`
	Width         int64  `json:"width" doc:"Pixels."`
	JPEGThumbnail string `json:"jpegThumbnail" doc:"A small JPEG in base64."`
	Waveform      string `json:"waveform" doc:"Loudness over time, in base64."`
	FileName      string `json:"fileName"`
	Caption       string `json:"caption"`
	// FileURL is below the server's base address; "" when the file could not
	// be had, which the payload's error explains.
	FileURL string `json:"fileUrl" doc:"Path of the file, relative to the base address; empty if the file is not available."`
}

// typeMembers are the members that each type has, in the order in which they
// are written.
var typeMembers = map[string][]string{
	TypeText:     {"text"},
	TypeImage:    {"mimetype", "fileLength", "height", "width", "jpegThumbnail", "caption", "fileUrl"},
	TypeVideo:    {"mimetype", "fileLength", "seconds", "height", "width", "jpegThumbnail", "caption", "fileUrl"},
	TypeDocument: {"mimetype", "title", "fileLength", "pageCount", "jpegThumbnail", "fileName", "caption", "fileUrl"},
	TypeAudio:    {"mimetype", "fileLength", "seconds", "waveform", "fileUrl"},
}

// inDigits says whether a number of a type is written as a string of digits.
func inDigits(kind, member string) bool { return member == "fileLength" && kind != TypeImage }

// Extras holds the members that are only there when they apply.
type Extras struct {
	Sticker     bool                       `json:"sticker,omitempty" doc:"Whether the image is a sticker."`
	Location    *provider.Location         `json:"location,omitempty"`
	Contacts    []provider.Card            `json:"contacts,omitempty" nullable:"false"`
	Reply       *provider.Reply            `json:"reply,omitempty"`
	Reaction    *provider.Reaction         `json:"reaction,omitempty"`
	Order       *provider.Order            `json:"order,omitempty"`
	Poll        *Poll                      `json:"poll,omitempty"`
	Form        *Form                      `json:"form,omitempty"`
	Template    *SentTemplate              `json:"template,omitempty" doc:"The template of the message, with its parameters. text has what the contact reads, as far as it is known."`
	Unsupported *provider.Unknown          `json:"unsupported,omitempty"`
	Participant *Participant               `json:"participant,omitempty"`
	Context     *Quote                     `json:"context,omitempty"`
	Referral    json.RawMessage            `json:"referral,omitempty" doc:"The advertisement or post that the contact came from, in the network's form."`
	Edited      *MessageRef                `json:"edited,omitempty" doc:"The message whose content this one replaces."`
	Revoked     *MessageRef                `json:"revoked,omitempty" doc:"The message that was deleted."`
	Extracted   map[string]json.RawMessage `json:"extracted,omitempty" doc:"Values that the extractors found, by name."`
}

// Participant is who wrote in a group.
type Participant struct {
	RemoteJID string `json:"remoteJid"`
	ChatID    string `json:"chatId" doc:"Id of the chat with this person alone, for use in a send. Empty in old messages, which were stored without it."`
	PushName  string `json:"pushName"`
}

// Quote is what a message answers or was forwarded from.
type Quote struct {
	MessageID string `json:"messageId"`
	Forwarded bool   `json:"forwarded,omitempty"`
}

// MessageRef names another message of the chat.
type MessageRef struct {
	MessageID string `json:"messageId"`
}

// Target is the id of the message that a body changes.
func (b *Body) Target() string {
	switch {
	case b.Edited != nil:
		return b.Edited.MessageID
	case b.Revoked != nil:
		return b.Revoked.MessageID
	case b.Reaction != nil:
		return b.Reaction.MessageID
	}
	return ""
}

// Undecryptable says whether a body takes the place of a message that may still come
// to be read.
func (b *Body) Undecryptable() bool {
	return b.Unsupported != nil && b.Unsupported.Kind == provider.Undecryptable
}

// Placeholder says whether a body takes the place of a file that may follow.
func (b *Body) Placeholder() bool {
	return b.Unsupported != nil && b.Unsupported.Kind == string(provider.Placeholder)
}
