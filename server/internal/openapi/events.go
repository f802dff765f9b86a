package openapi

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/billing"
)

// outgoingEvent is a kind of event as its receivers see it.
type outgoingEvent struct {
	kind, summary, about string
	body                 reflect.Type
	examples             map[string]any // by their titles
}

// outgoingEvents returns the requests that receivers of webhooks get, by the
// kind of event.
func outgoingEvents(r huma.Registry) map[string]*huma.PathItem {
	out := map[string]*huma.PathItem{}
	for _, e := range eventKinds {
		out[e.kind] = &huma.PathItem{Post: e.operation(r)}
	}
	return out
}

func (e *outgoingEvent) operation(r huma.Registry) *huma.Operation {
	content := &huma.MediaType{Schema: r.Schema(e.body, true, ""), Examples: map[string]*huma.Example{}}
	for title, value := range e.examples {
		content.Examples[title] = &huma.Example{Value: value}
	}
	return delivery("Event_"+strings.ToUpper(e.kind[:1])+e.kind[1:], e.summary, e.about, content, e.kind)
}

// callback describes the requests to the URL of a webhook that is registered. The
// document lists the kinds of events as webhooks, too; some generators make types
// only for what belongs to an operation.
func callback(r huma.Registry) map[string]*huma.PathItem {
	body, kinds := &huma.Schema{Description: "The payload of the event; X-Trunkline-Event says of which kind it is."}, []any{}
	for _, e := range eventKinds {
		body.OneOf = append(body.OneOf, r.Schema(e.body, true, ""))
		kinds = append(kinds, e.kind)
	}
	about := "Each kind of event is also described under the webhooks of this document."
	op := delivery("Event_Any", "An event of a kind that the webhook subscribes to", about, &huma.MediaType{Schema: body}, kinds...)
	return map[string]*huma.PathItem{"{$request.body#/webhook}": {Post: op}}
}

// delivery returns the request of an event of one of some kinds.
func delivery(id, summary, about string, content *huma.MediaType, kinds ...any) *huma.Operation {
	return &huma.Operation{
		OperationID: id, Summary: summary, Description: about + "\n\n" + aboutDelivery,
		Tags: []string{"Events"}, Security: []map[string][]string{}, Parameters: deliveryHeaders(kinds...),
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": content}},
		Responses: map[string]*huma.Response{
			"2XX":     {Description: "Accepted. The body is ignored, except for its first KiB in the log."},
			"410":     {Description: "The receiver no longer exists: the webhook is disabled."},
			"429":     {Description: "Too many events. As with 503, `Retry-After` says when to continue."},
			"default": {Description: "Refused. The event is sent again with growing delays for about three days. Redirects are not followed."},
		},
	}
}

const aboutDelivery = `Delivered at least once, in order within a chat. Repeats have the same ` + "`webhook-id`" + `.
The configured headers of the webhook are sent, too. A webhook with another ` + "`format`" + ` gets a body in that format instead.`

// deliveryHeaders are those that every delivery has.
func deliveryHeaders(kinds ...any) []*huma.Param {
	header := func(name, about string, schema *huma.Schema, example any) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: about, Schema: schema, Example: example}
	}
	text, number := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$"}
	return []*huma.Param{
		header("webhook-id", "Id of the event, the same in every repeat and replay.", text, "01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44"),
		header("webhook-timestamp", "UNIX seconds of this attempt.", number, strconv.FormatInt(exampleTime.Unix(), 10)),
		header("webhook-signature", "Signatures of id, timestamp and body as in Standard Webhooks: `v1,` and the base64 of an HMAC-SHA256, "+
			"separated by spaces. There are two for 24 hours after the secret was rotated.", text, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
		header("X-Trunkline-Event", "The kind of event.", &huma.Schema{Type: huma.TypeString, Enum: kinds}, kinds[0]),
		header("X-Trunkline-Reference", "Id of the reference.", number, "1"),
		header("X-Trunkline-Sequence", "Number of the event within its chat and webhook, from 1. A replay has the old number.", number, "1"),
	}
}

// eventKinds are all kinds of events, in the order of their importance.
var eventKinds = []outgoingEvent{
	{
		kind: "message", summary: "A message was received or sent", body: reflect.TypeFor[messaging.MessagePayload](),
		about: "A sent message has one event: when the network has accepted it, or when it has finally failed. " +
			"A message without a type of its own is a text that describes it, with the structured value in another member. " +
			"The address of an attachment is the base address followed by `fileUrl`.",
		examples: map[string]any{
			"text": exampleMessage(messaging.Body{Type: messaging.TypeText, Text: "Hello"}),
			"image": exampleMessage(messaging.Body{Type: messaging.TypeImage, Attachment: messaging.Attachment{
				MimeType: "image/jpeg", FileLength: 48213, Height: 960, Width: 1280, JPEGThumbnail: "/9j/2Q==", Caption: "Our shop", FileURL: exampleFile + "photo.jpg",
			}}),
			"video": exampleMessage(messaging.Body{Type: messaging.TypeVideo, Attachment: messaging.Attachment{
				MimeType: "video/mp4", FileLength: 1804213, Seconds: 12, Height: 720, Width: 1280, JPEGThumbnail: "/9j/2Q==", FileURL: exampleFile + "film.mp4",
			}}),
			"document": exampleMessage(messaging.Body{Type: messaging.TypeDocument, Attachment: messaging.Attachment{
				MimeType: "application/pdf", Title: "Prices", FileLength: 91532, PageCount: 3, FileName: "prices.pdf", FileURL: exampleFile + "prices.pdf",
			}}),
			"audio": exampleMessage(messaging.Body{Type: messaging.TypeAudio, Attachment: messaging.Attachment{
				MimeType: "audio/ogg; codecs=opus", FileLength: 9417, Seconds: 4, Waveform: "AAECAwQ=", FileURL: exampleFile + "voice.ogg",
			}}),
		},
	},
	{
		kind: "status", summary: "The status of a message changed", body: reflect.TypeFor[messaging.StatusPayload](),
		about: "A status only increases: SENDING, FAIL, DELIVERED, READ, PLAYED. With `mine` false, a received message was read. " +
			"To recognize a send, use `clientId` or `requestId`. They do not change when the network assigns `id`.",
		examples: map[string]any{
			"read": messaging.StatusPayload{Head: exampleSend("READ"), At: messaging.UnixTime{Time: exampleTime}},
			"failed": messaging.StatusPayload{Head: exampleSend("FAIL"), At: messaging.UnixTime{Time: exampleTime}, Error: &messaging.Failure{
				Code: strconv.Itoa(131026), Message: "Message undeliverable",
				Advice: "The contact cannot receive the message: the number has no WhatsApp, the app is too old, or Meta's terms were not accepted.",
			}},
		},
	},
	{
		kind: "data", summary: "Values were found in a message, or a flow sent an event", body: reflect.TypeFor[extractor.DataPayload](),
		about: "One event for each extractor that found a value.",
		examples: map[string]any{
			"extractor": extractor.DataPayload{
				Reference: 1, Ref: 1, RemoteJID: exampleContact, ChatID: exampleChat, MessageID: exampleID, MessageTimestamp: exampleTime.Unix(),
				Extractor: &extractor.Source{ID: "01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44", Name: "order number", Kind: "regex"},
				Values:    extractor.Values{"order": json.RawMessage(`"A-17"`)},
			},
			"flow": extractor.DataPayload{
				Reference: 1, Ref: 1, RemoteJID: exampleContact, ChatID: exampleChat, MessageID: exampleID, MessageTimestamp: exampleTime.Unix(),
				Event: &extractor.FlowEvent{Name: "lead", Data: json.RawMessage(`{"interest":"bicycle"}`)},
			},
		},
	},
	{
		kind: "calls", summary: "A contact calls", body: reflect.TypeFor[messaging.CallPayload](),
		about: "One event for each step of a call. rejected, missed and ended are the last step.",
		examples: map[string]any{"ringing": messaging.CallPayload{
			Reference: 1, Ref: 1, RemoteJID: exampleContact, ChatID: exampleChat, ID: "wacid.HBgL", Status: provider.CallRinging,
			MessageTimestamp: messaging.UnixTime{Time: exampleTime},
		}, "rejected": messaging.CallPayload{
			Reference: 1, Ref: 1, RemoteJID: exampleContact, ChatID: exampleChat, ID: "wacid.HBgL", Status: provider.CallRejected,
			MessageTimestamp: messaging.UnixTime{Time: exampleTime}, RejectedBy: provider.RejectedBySetting,
		}},
	},
	{
		kind: "subscription", summary: "The account's subscription changed", body: reflect.TypeFor[billing.SubscriptionPayload](),
		about: "Sent once to each distinct URL of the account that subscribes to it.",
		examples: map[string]any{"renewed": billing.SubscriptionPayload{
			Reference: 1, Ref: 1, Account: "01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44", Plan: "pro", Status: "active",
			CurrentPeriodEnd: messaging.UnixTime{Time: exampleTime.AddDate(0, 1, 0)}, Timestamp: messaging.UnixTime{Time: exampleTime},
		}},
	},
	{
		kind: "session", summary: "The session of a reference changed its state", body: reflect.TypeFor[messaging.SessionPayload](),
		about: "Only for webhooks that subscribe to it.",
		examples: map[string]any{"failed": messaging.SessionPayload{
			Reference: 1, Ref: 1, State: messaging.StateFailed, Timestamp: messaging.UnixTime{Time: exampleTime},
			LastError: &messaging.SessionError{Code: "credentials", Message: "Session has expired", At: messaging.UnixTime{Time: exampleTime}},
		}},
	},
}

const (
	exampleContact = "16505551234::single"
	exampleChat    = "16505551234"
	exampleID      = "wamid.HBgL"
	exampleFile    = "files/01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44/1Jx0fQ/"
)

var exampleTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func exampleHead(status string, mine bool) messaging.Head {
	return messaging.Head{
		Reference: 1, Ref: 1, RemoteJID: exampleContact, ChatID: exampleChat, Mine: mine, ID: exampleID, PushName: "Ana",
		MessageTimestamp: messaging.UnixTime{Time: exampleTime}, Status: status,
	}
}

// exampleSend is the head of a message that was sent with a clientId.
func exampleSend(status string) messaging.Head {
	h := exampleHead(status, true)
	h.RequestID, h.ClientID = "out-01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44", "order-1001"
	return h
}

func exampleMessage(b messaging.Body) messaging.MessagePayload {
	return messaging.MessagePayload{Head: exampleHead("DELIVERED", false), Body: b}
}
