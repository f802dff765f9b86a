package messaging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// contentTypes decodes each type that can be sent.
var contentTypes = map[string]func(json.RawMessage) (provider.Content, error){
	"text":     decodeAs[provider.Text],
	"template": decodeAs[provider.Template],
	"buttons":  decodeAs[provider.Buttons],
	"list":     decodeAs[provider.List],
	"location": decodeLocation,
	"reaction": decodeAs[provider.Reaction],
}

// ContentTypes lists the types that [DecodeContent] reads.
func ContentTypes() []string {
	return []string{"text", "template", "buttons", "list", "location", "reaction"}
}

// DecodeContent reads a `message` as the API takes it: an object with its
// type and the members of that type. It returns an [*Invalid] that names what
// is wrong.
func DecodeContent(raw json.RawMessage) (provider.Content, error) {
	return decodeOneOf(raw, contentTypes, ContentTypes())
}

// incomingTypes decodes each type that a simulated contact can write.
var incomingTypes = map[string]func(json.RawMessage) (provider.Content, error){
	"text":     decodeAs[provider.Text],
	"location": decodeLocation,
	"reaction": decodeAs[provider.Reaction],
	"reply":    decodeAs[provider.Reply],
}

// IncomingTypes lists the types that [DecodeIncoming] reads.
func IncomingTypes() []string { return []string{"text", "location", "reaction", "reply"} }

// DecodeIncoming reads what a simulated contact writes, in the form that
// [DecodeContent] takes.
func DecodeIncoming(raw json.RawMessage) (provider.Content, error) {
	return decodeOneOf(raw, incomingTypes, IncomingTypes())
}

func decodeOneOf(raw json.RawMessage, types map[string]func(json.RawMessage) (provider.Content, error), names []string) (provider.Content, error) {
	raw = withoutNUL(raw)
	var kind struct {
		Type *string `json:"type"`
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &kind); {
	case errors.As(err, &wrong) && wrong.Field == "type":
		return nil, &Invalid{"message.type", "must be a string"}
	case err != nil:
		return nil, &Invalid{"message", "must be an object with a type"}
	}
	if kind.Type == nil {
		return nil, &Invalid{"message.type", "is required"}
	}
	decode, ok := types[*kind.Type]
	if !ok {
		return nil, &Invalid{"message.type", "must be one of " + strings.Join(names, ", ")}
	}
	c, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return c, checkContent(c)
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
	members := object(string(raw))
	for _, name := range []string{"latitude", "longitude"} {
		if v, ok := members[name]; !ok || string(v) == "null" {
			return nil, &Invalid{"message." + name, "is required"}
		}
	}
	return c, nil
}

// withoutNUL drops escaped NULs from JSON: no network and not every database
// takes them. JSON has no other way to write one.
func withoutNUL(raw json.RawMessage) json.RawMessage {
	const nul = `\u0000`
	if !bytes.Contains(raw, []byte(nul)) {
		return raw
	}
	out := make(json.RawMessage, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case bytes.HasPrefix(raw[i:], []byte(nul)):
			i += len(nul) - 1
		case raw[i] == '\\' && i+1 < len(raw):
			out = append(out, raw[i], raw[i+1])
			i++
		default:
			out = append(out, raw[i])
		}
	}
	return out
}

// decodeStrict fills c and names the member that does not fit.
func decodeStrict(raw json.RawMessage, c any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return &Invalid{"message", "must be an object"}
	}
	delete(members, "type")
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
		return &Invalid{strings.TrimSuffix("message."+wrong.Field, "."), "has the wrong type"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Invalid{"message", "is cut off"}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return &Invalid{"message." + strings.Trim(name, `"`), "is not a member of this type"}
	}
	return &Invalid{"message", "cannot be read"}
}

// encodeContent is the inverse of [DecodeContent].
func encodeContent(c provider.Content) (string, error) {
	inner, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encoding %s: %w", c.Type(), err)
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(inner, &members); err != nil {
		return "", fmt.Errorf("encoding %s: %w", c.Type(), err)
	}
	members["type"] = json.RawMessage(`"` + c.Type() + `"`)
	out, err := json.Marshal(members)
	return string(out), err
}

// checkContent applies the rules that hold on every kind of line.
func checkContent(c provider.Content) error {
	switch v := c.(type) {
	case provider.Text:
		return required("text", v.Text)
	case provider.Template:
		return errors.Join(required("template.name", v.Template.Name), required("template.language.code", v.Template.Language.Code))
	case provider.Buttons:
		if err := required("text", v.Text); err != nil {
			return err
		}
		if len(v.Buttons) < 1 || len(v.Buttons) > 3 {
			return &Invalid{"message.buttons", "must hold 1 to 3 buttons"}
		}
		return checkChoices("message.buttons", v.Buttons)
	case provider.List:
		return checkList(v)
	case provider.Location:
		if !(math.Abs(v.Latitude) <= 90) {
			return &Invalid{"message.latitude", "must be between -90 and 90"}
		}
		if !(math.Abs(v.Longitude) <= 180) {
			return &Invalid{"message.longitude", "must be between -180 and 180"}
		}
	case provider.Reaction:
		return required("messageId", v.MessageID)
	}
	return nil
}

func required(field, v string) error {
	if strings.TrimSpace(v) == "" {
		return &Invalid{"message." + field, "must not be empty"}
	}
	return nil
}

func checkList(v provider.List) error {
	if err := errors.Join(required("text", v.Text), required("button", v.Button)); err != nil {
		return err
	}
	rows := 0
	for i, s := range v.Sections {
		if err := checkChoices(fmt.Sprintf("message.sections[%d].rows", i), s.Rows); err != nil {
			return err
		}
		rows += len(s.Rows)
	}
	if rows < 1 || rows > 10 {
		return &Invalid{"message.sections", "must hold 1 to 10 rows in total"}
	}
	return nil
}

func checkChoices(field string, cs []provider.Choice) error {
	seen := map[string]bool{}
	for i, c := range cs {
		switch {
		case c.ID == "":
			return &Invalid{fmt.Sprintf("%s[%d].id", field, i), "must not be empty"}
		case c.Title == "":
			return &Invalid{fmt.Sprintf("%s[%d].title", field, i), "must not be empty"}
		case seen[c.ID]:
			return &Invalid{fmt.Sprintf("%s[%d].id", field, i), "stands twice"}
		}
		seen[c.ID] = true
	}
	return nil
}
