package values

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Members writes a JSON object member by member.
type Members struct{ out []byte }

// NewMembers returns one that has room for size bytes.
func NewMembers(size int) *Members { return &Members{make([]byte, 0, size)} }

func (m *Members) Name(name string) {
	switch {
	case len(m.out) == 0:
		m.out = append(m.out, '{')
	case m.out[len(m.out)-1] != '{':
		m.out = append(m.out, ',')
	}
	m.out = append(appendQuoted(m.out, name), ':')
}

// Text writes a member that is a text.
func (m *Members) Text(name, v string) {
	m.Name(name)
	m.out = appendQuoted(m.out, v)
}

// Given is text for a member that is left out when it is empty.
func (m *Members) Given(name, v string) {
	if v != "" {
		m.Text(name, v)
	}
}

func (m *Members) Int(name string, n int) {
	m.Name(name)
	m.out = strconv.AppendInt(m.out, int64(n), 10)
}

// Value writes a member of any JSON value.
func (m *Members) Value(name string, v any) {
	m.Name(name)
	m.out = Append(m.out, v)
}

// End returns the object.
func (m *Members) End() json.RawMessage {
	if len(m.out) == 0 {
		return json.RawMessage("{}")
	}
	return append(m.out, '}')
}

// Open begins an object or a list that is a member.
func (m *Members) Open(name string, bracket byte) {
	m.Name(name)
	m.out = append(m.out, bracket)
}

// Item begins an object that is an item of a list.
func (m *Members) Item(bracket byte) {
	if m.out[len(m.out)-1] != '[' {
		m.out = append(m.out, ',')
	}
	m.out = append(m.out, bracket)
}

func (m *Members) Close(bracket byte) { m.out = append(m.out, bracket) }

// Object is a member that is left out when it is empty.
func (m *Members) Object(name string, v map[string]any) {
	if len(v) > 0 {
		m.Name(name)
		m.out = appendMap(m.out, v)
	}
}

// Some is a number that is left out when it is 0.
func (m *Members) Some(name string, n int) {
	if n != 0 {
		m.Int(name, n)
	}
}

// Truth is a member that is left out when it is false.
func (m *Members) Truth(name string, yes bool) {
	if yes {
		m.Value(name, yes)
	}
}

func (m *Members) Time(name string, t time.Time) {
	if !t.IsZero() {
		m.Name(name)
		m.out = append(t.AppendFormat(append(m.out, '"'), time.RFC3339Nano), '"')
	}
}

// Other writes what is rare.
func (m *Members) Other(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the state of a run: %w", err)
	}
	m.Name(name)
	m.out = append(m.out, raw...)
	return nil
}

// Texts is a list of texts that is left out when it is empty.
func (m *Members) Texts(name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	m.Open(name, '[')
	for i, text := range texts {
		if i > 0 {
			m.out = append(m.out, ',')
		}
		m.out = appendQuoted(m.out, text)
	}
	m.Close(']')
}
