package view

import (
	"reflect"

	"github.com/trunklinehq/trunkline/provider"
)

// ContentSchemas are the types of messages, for the document. The values are
// checked by messaging.DecodeContent and DecodeIncoming, whose errors name the
// member.
var ContentSchemas = map[string]reflect.Type{
	"text":     reflect.TypeFor[provider.Text](),
	"template": reflect.TypeFor[provider.Template](),
	"buttons":  reflect.TypeFor[provider.Buttons](),
	"list":     reflect.TypeFor[provider.List](),
	"location": reflect.TypeFor[provider.Location](),
	"contacts": reflect.TypeFor[provider.Contacts](),
	"reaction": reflect.TypeFor[provider.Reaction](),
	"edit":     reflect.TypeFor[provider.Edit](),
	"revoke":   reflect.TypeFor[provider.Revoke](),
	"poll":     reflect.TypeFor[provider.Poll](),
	"vote":     reflect.TypeFor[provider.Vote](),
	"reply":    reflect.TypeFor[provider.Reply](),

	"interactive": reflect.TypeFor[provider.Interactive](),

	"image":    reflect.TypeFor[captionedContent](),
	"video":    reflect.TypeFor[captionedContent](),
	"document": reflect.TypeFor[captionedContent](),
	"audio":    reflect.TypeFor[audioContent](),
	"sticker":  reflect.TypeFor[fileContent](),
}

// ContentExamples are members of each, to begin with.
var ContentExamples = map[string]map[string]any{
	"text":     {"text": "Hello"},
	"template": {"template": map[string]any{"name": "welcome", "language": map[string]any{"code": "en_US"}}},
	"buttons":  {"text": "Shall we?", "buttons": []any{map[string]any{"id": "yes", "title": "Yes"}, map[string]any{"id": "no", "title": "No"}}},
	"list": {"text": "Which one?", "button": "Choose", "sections": []any{
		map[string]any{"title": "All", "rows": []any{map[string]any{"id": "1", "title": "The first", "description": "and the best"}}},
	}},
	"location": {"latitude": 38.7223, "longitude": -9.1393, "name": "Lisbon"},
	"contacts": {"contacts": []any{map[string]any{
		"name": map[string]any{"formattedName": "Ben Silva"}, "phones": []any{map[string]any{"phone": "+351 21 000 0000", "type": "WORK"}},
	}}},
	"reaction": {"messageId": "wamid.HBgL", "emoji": "👍"},
	"image":    {"url": "https://example.org/cat.jpg", "caption": "A cat"},
	"video":    {"url": "https://example.org/cat.mp4"},
	"document": {"mediaId": "0197b1a2-7c3e-7f00-8000-000000000000", "fileName": "menu.pdf"},
	"audio":    {"mediaId": "0197b1a2-7c3e-7f00-8000-000000000000", "voice": true},
	"sticker":  {"mediaId": "0197b1a2-7c3e-7f00-8000-000000000000"},
	"edit":     {"messageId": "wamid.HBgL", "text": "Hello again"},
	"revoke":   {"messageId": "wamid.HBgL"},
	"poll":     {"question": "Which day?", "options": []any{"Monday", "Tuesday"}},
	"vote":     {"messageId": "3EB0C767D26A1D8C", "options": []any{"Monday"}},
	"reply":    {"id": "yes", "title": "Yes"},
	"interactive": {"interactive": map[string]any{
		"type": "location_request_message", "body": map[string]any{"text": "Where are you?"}, "action": map[string]any{"name": "send_location"},
	}},
}

// The members of contents that are files, for the document.
type (
	fileContent struct {
		MediaID string `json:"mediaId,omitempty" maxLength:"36" doc:"Id of a file from POST /media. Give either this or url."`
		URL     string `json:"url,omitempty" format:"uri" maxLength:"2048" doc:"URL from which the network fetches the file."`
	}
	audioContent struct {
		MediaID string `json:"mediaId,omitempty" maxLength:"36" doc:"Id of a file from POST /media. Give either this or url."`
		URL     string `json:"url,omitempty" format:"uri" maxLength:"2048" doc:"URL from which the network fetches the file."`
		Voice   bool   `json:"voice,omitempty" doc:"Whether to send it as a voice note. It must be one channel of Opus in Ogg; if the server has ffmpeg, it converts other recordings."`
	}
	captionedContent struct {
		MediaID  string `json:"mediaId,omitempty" maxLength:"36" doc:"Id of a file from POST /media. Give either this or url."`
		URL      string `json:"url,omitempty" format:"uri" maxLength:"2048" doc:"URL from which the network fetches the file."`
		Caption  string `json:"caption,omitempty"`
		FileName string `json:"fileName,omitempty" doc:"Name of a document. Default: the name of the stored file."`
	}
)
