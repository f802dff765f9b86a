package flow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// The kinds of a tree.
const (
	kindObject = '{'
	kindArray  = '['
	kindString = '"'
	kindNumber = '0'
	kindBool   = 't'
	kindNull   = 'n'
)

// maxDepth limits the nesting of a document: the levels of a value, and those above
// it.
const maxDepth = 48

// tree is a JSON value as it is in a document.
type tree struct {
	kind    byte
	text    string // of a string; the literal of a number; "true", "false"
	members []member
	items   []*tree
}

type member struct {
	name  string
	value *tree
}

// get returns the member with a name, or nil.
func (t *tree) get(name string) *tree {
	for i := range t.members {
		if t.members[i].name == name {
			return t.members[i].value
		}
	}
	return nil
}

// at returns the value at a path of names, or nil.
func (t *tree) at(names ...string) *tree {
	for _, name := range names {
		if t = t.get(name); t == nil {
			return nil
		}
	}
	return t
}

// kinds are the names of kinds for people.
var kinds = map[byte]string{
	kindObject: "an object", kindArray: "a list", kindString: "a string", kindNumber: "a number", kindBool: "true or false", kindNull: "null",
}

// parse parses a JSON value of at most max bytes. It returns nil, and reports a
// problem, if raw is not JSON. It reports other problems to r.
func parse(raw []byte, max int, r *report) *tree {
	if len(raw) > max {
		r.problem("shape.size", fmt.Sprintf("has %d bytes; at most %d are allowed", len(raw), max), "")
		return nil
	}
	if !utf8.Valid(raw) {
		r.problem("shape.syntax", "is not JSON: it is not UTF-8", "")
		return nil
	}
	if !json.Valid(raw) {
		r.problem("shape.syntax", "is not JSON: "+syntaxError(raw), "")
		return nil
	}
	b := builder{report: r}
	return b.build(bytes.TrimSpace(raw), 0)
}

// syntaxError returns the error of encoding/json with its position.
func syntaxError(raw []byte) string {
	var any json.RawMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	err := d.Decode(&any)
	at := d.InputOffset()
	if err == nil {
		return "there is text after the value at " + place(raw, at)
	}
	if wrong, ok := err.(*json.SyntaxError); ok { //nolint:errorlint // not wrapped
		return wrong.Error() + " at " + place(raw, wrong.Offset)
	}
	return "the text ends too early"
}

func place(raw []byte, offset int64) string {
	before := raw[:min(int64(len(raw)), max(0, offset))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Sprintf("line %d, column %d", line, max(1, column))
}

// builder builds a tree from valid JSON.
type builder struct {
	*report
	deep    bool // the depth was reported already
	numbers int  // numbers that are too large; only some are reported, to leave room for other problems
}

func (b *builder) build(raw []byte, depth int) *tree {
	if depth > maxDepth {
		if !b.deep {
			b.problem("shape.depth", fmt.Sprintf("has more than %d levels", maxDepth), "")
			b.deep = true
		}
		return &tree{kind: kindNull}
	}
	switch kind := jsonscan.Kind(raw); kind {
	case '{':
		return b.object(raw, depth)
	case '[':
		t := &tree{kind: kindArray}
		for element := range jsonscan.Elements(raw) {
			b.push(len(t.items))
			t.items = append(t.items, b.build(element, depth+1))
			b.pop()
		}
		return t
	case '"':
		return &tree{kind: kindString, text: unquote(raw)}
	case 't', 'f':
		return &tree{kind: kindBool, text: string(raw)}
	case 'n':
		return &tree{kind: kindNull}
	default:
		return b.number(string(raw))
	}
}

func (b *builder) object(raw []byte, depth int) *tree {
	t := &tree{kind: kindObject}
	seen := map[string]bool{}
	for key, value := range jsonscan.Members(raw) {
		name := string(key)
		b.push(name)
		if seen[name] {
			b.problem("shape.duplicate", "is given twice", "")
		} else {
			seen[name] = true
			t.members = append(t.members, member{name, b.build(value, depth+1)})
		}
		b.pop()
	}
	return t
}

// number refuses a number that is too large.
func (b *builder) number(text string) *tree {
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		if b.numbers++; b.numbers <= maxErrors/4 {
			b.problem("shape.number", "is too large a number", "")
		}
		text = "0"
	}
	return &tree{kind: kindNumber, text: text}
}

func unquote(raw []byte) string {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // cannot fail for valid JSON
	return s
}

// plain returns t as a value of expressions.
func (t *tree) plain() any {
	switch t.kind {
	case kindString:
		return t.text
	case kindBool:
		return t.text == "true"
	case kindNumber:
		n, _ := values.AdmitNumber(json.Number(t.text)) // the builder refuses invalid numbers
		return n
	case kindArray:
		list := make([]any, len(t.items))
		for i, item := range t.items {
			list[i] = item.plain()
		}
		return list
	case kindObject:
		object := make(map[string]any, len(t.members))
		for _, m := range t.members {
			object[m.name] = m.value.plain()
		}
		return object
	}
	return nil
}

// escapePointer escapes a name for a JSON pointer.
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// has returns for how many parts of a JSON pointer t has a value.
func (t *tree) has(parts []any) int {
	for i, part := range parts {
		switch part := part.(type) {
		case string:
			t = t.get(part)
		case int:
			if part < 0 || part >= len(t.items) {
				return i
			}
			t = t.items[part]
		}
		if t == nil {
			return i
		}
	}
	return len(parts)
}

// canonical returns t in canonical form: without white space, members sorted by
// name (bytewise), numbers in their shortest form and strings with the fewest
// escapes.
func (t *tree) canonical() []byte { return t.write(nil, true) }

// write appends t, with its members sorted or in their order.
func (t *tree) write(out []byte, sorted bool) []byte {
	switch t.kind {
	case kindObject:
		members := t.members
		if sorted {
			members = slices.SortedFunc(slices.Values(members), func(a, b member) int { return strings.Compare(a.name, b.name) })
		}
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, m.name), ':')
			out = m.value.write(out, sorted)
		}
		return append(out, '}')
	case kindArray:
		out = append(out, '[')
		for i, item := range t.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.write(out, sorted)
		}
		return append(out, ']')
	case kindString:
		return appendString(out, t.text)
	case kindNumber:
		return appendNumber(out, t.text)
	case kindNull:
		return append(out, "null"...)
	}
	return append(out, t.text...)
}

// appendNumber writes whole numbers of up to 64 bits as digits, and others in the
// shortest form that yields the same number.
func appendNumber(out []byte, text string) []byte {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.AppendInt(out, n, 10)
	}
	f, _ := strconv.ParseFloat(text, 64) // it was parsed before
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(out, int64(f), 10)
	}
	return strconv.AppendFloat(out, f, 'g', -1, 64)
}

func appendString(out []byte, s string) []byte {
	if plainText(s) {
		out = append(out, '"')
		out = append(out, s...)
		return append(out, '"')
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail for a string
	return append(out, strings.TrimSuffix(b.String(), "\n")...)
}

// plainText reports whether s needs no escapes.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// hashOf returns the SHA-256 of b in hexadecimal.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
