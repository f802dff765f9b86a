package cloud

import (
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Text is plain text of 1 to 4096 characters. PreviewURL shows a preview of its
// first link.
type Text struct {
	Text       string `json:"body"`
	PreviewURL bool   `json:"preview_url"`
}

func (t Text) check(r *graph.Rules) { r.Between("message.text.body", t.Text, maxText) }

func (t Text) into(e *envelope) { e.Type, e.Text = "text", &t }

// Media is a file, also in the header of an [Interactive] or a template. Either
// ID or Link is set: ID is a file that was uploaded (see [Client.Upload]), Link
// is where Meta can download it.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media
type Media struct {
	Kind     provider.MediaKind `json:"-"`
	ID       string             `json:"id,omitempty"`
	Link     string             `json:"link,omitempty"`
	Caption  string             `json:"caption,omitempty"`  // at most 1024 characters; not of audio and stickers
	Filename string             `json:"filename,omitempty"` // of a document
	Voice    bool               `json:"voice,omitempty"`    // audio that is shown as a voice note: Ogg with Opus
}

func (m Media) check(r *graph.Rules) { m.checkAt(r, "message."+string(m.Kind)) }

func (m Media) checkAt(r *graph.Rules, at string) {
	switch m.Kind {
	case provider.Image, provider.Video, provider.Audio, provider.Document, provider.Sticker:
	default:
		r.Fail("message.type", "must be a kind of file")
	}
	switch {
	case m.ID != "" && m.Link != "":
		r.Fail(at+".link", "must not be set together with the id of an uploaded file")
	case m.ID == "":
		r.Needs(at+".link", m.Link)
		r.Link(at+".link", m.Link)
	}
	r.MaxLength(at+".caption", m.Caption, maxCaption)
	r.Must(m.Caption == "" || m.Kind != provider.Audio && m.Kind != provider.Sticker, at+".caption", "cannot be sent with this type")
	r.Must(!m.Voice || m.Kind == provider.Audio, at+".voice", "is for audio only")
}

func (m Media) into(e *envelope) {
	e.Type = string(m.Kind)
	*m.slot(&e.Image, &e.Video, &e.Audio, &e.Document, &e.Sticker) = &m
}

// slot returns the field of the request that holds a file of this kind.
func (m Media) slot(image, video, audio, document, sticker **Media) **Media {
	switch m.Kind {
	case provider.Image:
		return image
	case provider.Video:
		return video
	case provider.Audio:
		return audio
	case provider.Document:
		return document
	default:
		return sticker
	}
}

// Location is a point on the map.
type Location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
}

func (l Location) check(r *graph.Rules) {
	r.Must(l.Latitude >= -90 && l.Latitude <= 90, "message.location.latitude", "must be between -90 and 90")
	r.Must(l.Longitude >= -180 && l.Longitude <= 180, "message.location.longitude", "must be between -180 and 180")
}

func (l Location) into(e *envelope) { e.Type, e.Location = "location", &l }

// Reaction adds an emoji to a message. An empty emoji removes it. The network
// sends no statuses for it.
type Reaction struct {
	MessageID string `json:"message_id"`
	Emoji     string `json:"emoji"`
}

func (a Reaction) check(r *graph.Rules) { r.Needs("message.reaction.message_id", a.MessageID) }

func (a Reaction) into(e *envelope) { e.Type, e.Reaction = "reaction", &a }

// Meta's limits, in characters unless noted.
// https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
const (
	maxText        = 4096
	maxCaption     = 1024
	maxCallback    = 512 // of biz_opaque_callback_data
	maxBody        = 1024
	maxHeader      = 60
	maxFooter      = 60
	maxButtons     = 3
	maxButtonTitle = 20
	maxButtonID    = 256
	maxListButton  = 20
	maxSections    = 10
	maxRows        = 10 // of all sections together
	maxTitle       = 24 // of a section or a row
	maxDescription = 72
	maxRowID       = 200
	maxFlowText    = 30
	maxProducts    = 30 // of a list of products
	maxCards       = 257
)
