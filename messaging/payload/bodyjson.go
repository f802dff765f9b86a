package payload

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// MarshalJSON writes the members of the type, then the extras that apply.
func (b Body) MarshalJSON() ([]byte, error) {
	b.Type = cmp.Or(b.Type, TypeText)
	members, ok := typeMembers[b.Type]
	if !ok {
		return nil, fmt.Errorf("messaging: a message cannot be of type %q", b.Type)
	}
	own := []byte(`{"type":"` + b.Type + `"`)
	v := reflect.ValueOf(b)
	for _, name := range members {
		value, err := Encode(v.FieldByIndex(bodyFields[name]).Interface())
		if err != nil {
			return nil, err
		}
		if inDigits(b.Type, name) {
			value = strconv.AppendQuote(nil, string(value))
		}
		own = append(append(append(own, `,"`+name...), `":`...), value...)
	}
	extras, err := Encode(b.Extras)
	return Join(append(own, '}'), extras), err
}

// UnmarshalJSON reads the members of any type.
func (b *Body) UnmarshalJSON(raw []byte) error {
	type plain Body
	in := struct {
		*plain
		FileLength byteCount `json:"fileLength"`
	}{(*plain)(b), byteCount(b.FileLength)}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	b.FileLength = int64(in.FileLength)
	return nil
}

// byteCount is read from a number or a string of digits.
type byteCount int64

func (n *byteCount) UnmarshalJSON(raw []byte) error {
	i, err := strconv.ParseInt(string(bytes.Trim(raw, `"`)), 10, 64)
	if err != nil {
		return fmt.Errorf("fileLength must be an integer or a string of digits")
	}
	*n = byteCount(i)
	return nil
}

// bodyFields are the fields of a Body by the names of their members.
var bodyFields = func() map[string][]int {
	out := map[string][]int{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Body]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = f.Index
	}
	return out
}()

// MarshalJSON writes the members of all parts in one object.
func (p MessagePayload) MarshalJSON() ([]byte, error) {
	return encodeParts(p.Head, p.Body, FileError{p.Error})
}

// UnmarshalJSON reads the payload of a message of any type. Members that it
// does not know are ignored.
func (p *MessagePayload) UnmarshalJSON(raw []byte) error {
	var t FileError
	err := decodeParts(raw, &p.Head, &p.Body, &t)
	p.Error = t.Error
	return err
}

// FileError is the part of a payload that says why a file could not be had.
type FileError struct {
	Error *Failure `json:"error,omitempty"`
}

// MarshalJSON writes the members of all parts in one object.
func (m Message) MarshalJSON() ([]byte, error) { return encodeParts(m.Head, m.Body, m.Details) }

// UnmarshalJSON reads a record. Members that it does not know are ignored.
func (m *Message) UnmarshalJSON(raw []byte) error {
	return decodeParts(raw, &m.Head, &m.Body, &m.Details)
}

// encodeParts writes objects as one.
func encodeParts(first any, rest ...any) (json.RawMessage, error) {
	out, err := Encode(first)
	for _, part := range rest {
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if raw, err = Encode(part); err == nil {
			out = Join(out, raw)
		}
	}
	return out, err
}

// decodeParts reads one object into several.
func decodeParts(raw []byte, parts ...any) error {
	for _, part := range parts {
		if err := json.Unmarshal(raw, part); err != nil {
			return err
		}
	}
	return nil
}
