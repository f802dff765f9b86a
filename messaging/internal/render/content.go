package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// contentTypes decodes each type that can be sent.
var contentTypes = withMedia(map[string]func(json.RawMessage) (provider.Content, error){
	"text":        decodeAs[provider.Text],
	"template":    decodeAs[provider.Template],
	"buttons":     decodeAs[provider.Buttons],
	"list":        decodeAs[provider.List],
	"location":    decodeLocation,
	"contacts":    decodeAs[provider.Contacts],
	"reaction":    decodeAs[provider.Reaction],
	"edit":        decodeAs[provider.Edit],
	"revoke":      decodeAs[provider.Revoke],
	"poll":        decodeAs[provider.Poll],
	"vote":        decodeAs[provider.Vote],
	"interactive": decodeAs[provider.Interactive],
})

// ContentTypes lists the types that [DecodeContent] reads.
func ContentTypes() []string {
	return append([]string{"text", "template", "buttons", "list", "location", "contacts", "reaction", "edit", "revoke", "poll", "vote", "interactive"},
		mediaContents...)
}

// DecodeContent reads a `message` as the API takes it: an object with its
// type and the members of that type, and a tag, which is for [DecodeTag]. It
// returns an [*payload.Invalid] that names what is wrong.
func DecodeContent(raw json.RawMessage) (provider.Content, error) {
	if _, err := DecodeTag(raw); err != nil {
		return nil, err
	}
	return checked(decodeOneOf(raw, contentTypes, ContentTypes()))
}

// DecodeStored reads what is to be sent, which was checked as a whole.
func DecodeStored(raw string) (provider.Content, error) {
	return decodeOneOf(json.RawMessage(raw), contentTypes, ContentTypes())
}

// checked applies the rules that hold on every kind of reference.
func checked(c provider.Content, err error) (provider.Content, error) {
	if err != nil {
		return nil, err
	}
	return c, CheckContent(c)
}

// maxMessageTag is the most bytes of a message's tag.
const maxMessageTag = 64

// DecodeTag reads the tag of a `message`: the tag of a send.
func DecodeTag(raw json.RawMessage) (string, error) {
	var in struct {
		Tag *string `json:"tag"`
	}
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(raw, &in)
	switch {
	case errors.As(err, &wrong) && wrong.Field == "tag":
		return "", &payload.Invalid{Field: "message.tag", Message: "must be a string"}
	case err != nil || in.Tag == nil:
		return "", nil //nolint:nilerr // DecodeContent says what is wrong
	case len(*in.Tag) > maxMessageTag:
		return "", &payload.Invalid{Field: "message.tag", Message: fmt.Sprintf("must have at most %d characters", maxMessageTag)}
	}
	return text.Sanitize(*in.Tag), nil
}

// incomingTypes decodes each type that a simulated contact can write.
var incomingTypes = withMedia(map[string]func(json.RawMessage) (provider.Content, error){
	"text":     decodeAs[provider.Text],
	"location": decodeLocation,
	"reaction": decodeAs[provider.Reaction],
	"reply":    decodeAs[provider.Reply],
	"edit":     decodeAs[provider.Edit],
	"revoke":   decodeAs[provider.Revoke],
})

// IncomingTypes lists the types that [DecodeIncoming] reads.
func IncomingTypes() []string {
	return append([]string{"text", "location", "reaction", "reply", "edit", "revoke"}, mediaContents...)
}

// DecodeIncoming reads what a simulated contact writes, in the form that
// [DecodeContent] takes.
func DecodeIncoming(raw json.RawMessage) (provider.Content, error) {
	return checked(decodeOneOf(raw, incomingTypes, IncomingTypes()))
}

func decodeOneOf(raw json.RawMessage, types map[string]func(json.RawMessage) (provider.Content, error), names []string) (provider.Content, error) {
	raw = jsonscan.WithoutNUL(raw)
	var kind struct {
		Type *string `json:"type"`
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &kind); {
	case errors.As(err, &wrong) && wrong.Field == "type":
		return nil, &payload.Invalid{Field: "message.type", Message: "must be a string"}
	case err != nil:
		return nil, &payload.Invalid{Field: "message", Message: "must be an object with a type"}
	}
	if kind.Type == nil {
		return nil, &payload.Invalid{Field: "message.type", Message: "is required"}
	}
	decode, ok := types[*kind.Type]
	if !ok {
		return nil, &payload.Invalid{Field: "message.type", Message: "must be one of " + strings.Join(names, ", ")}
	}
	return decode(raw)
}

func decodeAs[T provider.Content](raw json.RawMessage) (provider.Content, error) {
	var c T
	if err := decodeStrict(raw, &c); err != nil {
		return nil, err
	}
	return c, nil
}

// decodeLocation refuses a point that lacks a coordinate: 0 is a coordinate.
func decodeLocation(raw json.RawMessage) (provider.Content, error) {
	c, err := decodeAs[provider.Location](raw)
	if err != nil {
		return nil, err
	}
	members := store.DecodeObject(string(raw))
	for _, name := range []string{"latitude", "longitude"} {
		if v, ok := members[name]; !ok || string(v) == "null" {
			return nil, &payload.Invalid{Field: "message." + name, Message: "is required"}
		}
	}
	return c, nil
}

// decodeStrict fills c and names the member that does not fit.
func decodeStrict(raw json.RawMessage, c any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return &payload.Invalid{Field: "message", Message: "must be an object"}
	}
	delete(members, "type")
	delete(members, "tag")
	rest, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("re-encoding a message: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	err = d.Decode(c)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return &payload.Invalid{Field: strings.TrimSuffix("message."+wrong.Field, "."), Message: "has the wrong type"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &payload.Invalid{Field: "message", Message: "must be a complete JSON object"}
	}
	if at := unknownMember(rest, reflect.TypeOf(c)); at != "" {
		return &payload.Invalid{Field: "message" + at, Message: "is not a member of this type"}
	}
	return &payload.Invalid{Field: "message", Message: "must be a valid JSON object"}
}

// EncodeContent is the inverse of [DecodeContent] and [DecodeTag].
func EncodeContent(c provider.Content, tag string) (string, error) {
	inner, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encoding %s: %w", c.Type(), err)
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(inner, &members); err != nil {
		return "", fmt.Errorf("encoding %s: %w", c.Type(), err)
	}
	members["type"] = json.RawMessage(`"` + c.Type() + `"`)
	if tag != "" {
		members["tag"] = payload.MustEncode(tag)
	}
	out, err := json.Marshal(members)
	return string(out), err
}

// CheckContent applies the rules that hold on every kind of reference.
func CheckContent(c provider.Content) error {
	switch v := c.(type) {
	case provider.Text:
		return checkText(v)
	case provider.Template:
		return checkTemplate(v)
	case provider.Buttons, provider.List, provider.Poll, provider.Vote:
		return checkQuestion(c)
	case provider.Media:
		return checkMedia(v)
	case provider.Contacts:
		return checkCards(v)
	case provider.Interactive:
		if !IsObject(v.Interactive) {
			return &payload.Invalid{Field: "message.interactive", Message: "must be an object"}
		}
	case provider.Edit:
		return errors.Join(required("messageId", v.MessageID), required("text", v.Text))
	case provider.Revoke:
		return required("messageId", v.MessageID)
	case provider.Location:
		if !(math.Abs(v.Latitude) <= 90) {
			return &payload.Invalid{Field: "message.latitude", Message: "must be between -90 and 90"}
		}
		if !(math.Abs(v.Longitude) <= 180) {
			return &payload.Invalid{Field: "message.longitude", Message: "must be between -180 and 180"}
		}
	case provider.Reaction:
		return required("messageId", v.MessageID)
	}
	return nil
}

func required(field, v string) error {
	if strings.TrimSpace(v) == "" {
		return &payload.Invalid{Field: "message." + field, Message: "must not be empty"}
	}
	return nil
}
