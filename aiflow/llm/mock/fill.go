package mock

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/internal/pattern"
)

// fill returns JSON that matches a schema, with values from a text where possible.
func fill(schema json.RawMessage, text string) string {
	return (&filling{text: text, optional: true}).document(schema)
}

// arguments returns arguments of a tool, without optional ones that the text lacks.
func arguments(schema json.RawMessage, text string) string {
	return (&filling{text: text}).document(schema)
}

func (f *filling) document(schema json.RawMessage) string {
	var doc any
	if json.Unmarshal(schema, &doc) != nil {
		doc = map[string]any{"type": "object"}
	}
	f.root, f.numbers = doc, number.FindAllString(f.text, -1)
	out, err := json.Marshal(f.value("", doc, 0))
	if err != nil {
		return "{}"
	}
	return string(out)
}

// Limits for schemas that contain themselves.
const (
	deepest   = 8
	maxValues = 1000
)

var (
	number = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
	code   = regexp.MustCompile(`\b[\p{L}\d]*\d[\p{L}\d]*(?:[-_/][\p{L}\d]+)*\b|\b\p{Lu}+[-_][\p{L}\d-]+\b`)
	// formats find strings of a format in a text. The second value is used if the
	// text has none.
	formats = map[string]struct {
		find  *regexp.Regexp
		other string
	}{
		"email":     {regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`), "someone@example.org"},
		"uri":       {regexp.MustCompile(`https?://[^\s<>"]+`), "https://example.org"},
		"date":      {regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`), "2000-01-01"},
		"time":      {regexp.MustCompile(`\b\d{2}:\d{2}:\d{2}Z\b`), "12:00:00Z"},
		"date-time": {regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z\b`), "2000-01-01T12:00:00Z"},
		"uuid":      {regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "00000000-0000-0000-0000-000000000000"},
	}
)

// filling fills a schema from a text.
type filling struct {
	root     any
	text     string
	optional bool     // fill all properties where none is required
	numbers  []string // not used yet
	values   int      // so far
}

func (f *filling) value(name string, schema any, depth int) any {
	s, ok := schema.(map[string]any)
	if f.values++; !ok || depth > deepest || f.values > maxValues {
		return map[string]any{}
	}
	if ref, ok := s["$ref"].(string); ok {
		return f.value(name, f.resolve(ref), depth+1)
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return f.choose(values)
	}
	for _, of := range []string{"anyOf", "oneOf", "allOf"} {
		if options, ok := s[of].([]any); ok && len(options) > 0 && s["type"] == nil {
			return f.value(name, options[0], depth+1)
		}
	}
	switch kind(s) {
	case "object":
		return f.object(s, depth)
	case "array":
		return f.array(name, s, depth)
	case "integer", "number":
		return f.number(s)
	case "boolean":
		return !regexp.MustCompile(`(?i)\b(no|not|never|don't|without)\b`).MatchString(f.text)
	case "null":
		return nil
	}
	return f.string(name, s)
}

// kind returns the type of a schema: of several, the first that is not null.
func kind(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		for _, v := range t {
			if k, ok := v.(string); ok && k != "null" {
				return k
			}
		}
		return "null"
	}
	if s["properties"] != nil {
		return "object"
	}
	return "string"
}

// resolve resolves a reference within the schema.
func (f *filling) resolve(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	at := f.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		m, is := at.(map[string]any)
		if !ok || !is || path == "" {
			break
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return at
}

// choose returns the value of a list that the text contains, else the first.
func (f *filling) choose(values []any) any {
	text := strings.ToLower(f.text)
	for _, v := range values {
		if s, ok := v.(string); ok && s != "" && strings.Contains(text, strings.ToLower(s)) {
			return v
		}
	}
	return values[0]
}

// object fills the required properties, or all of them if none is required and
// f.optional is set.
func (f *filling) object(s map[string]any, depth int) any {
	properties, _ := s["properties"].(map[string]any)
	var names []string
	required, _ := s["required"].([]any)
	for _, v := range required {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 && f.optional {
		names = slices.Sorted(maps.Keys(properties))
	}
	out := map[string]any{}
	for _, name := range names {
		out[name] = f.value(name, properties[name], depth+1)
	}
	return out
}

func (f *filling) array(name string, s map[string]any, depth int) any {
	n := 1
	if least, ok := s["minItems"].(float64); ok {
		n = max(1, int(min(least, 16)))
	}
	if limit, ok := s["maxItems"].(float64); ok && limit < 1 {
		n = 0
	}
	out := make([]any, n)
	for i := range out {
		out[i] = f.value(name, s["items"], depth+1)
	}
	return out
}

// number returns the next number of the text, else 1, within the schema's limits.
func (f *filling) number(s map[string]any) any {
	v := 1.0
	if len(f.numbers) > 0 {
		if n, err := strconv.ParseFloat(f.numbers[0], 64); err == nil {
			v = n
		}
		f.numbers = f.numbers[1:]
	}
	if kind(s) == "integer" {
		v = math.Trunc(v)
	}
	if least, ok := s["minimum"].(float64); ok {
		v = max(v, least)
	}
	if limit, ok := s["maximum"].(float64); ok {
		v = min(v, limit)
	}
	return v
}

// string returns the text's value for a name, as in "name is Maria" or "order
// A-17". For names of free text it returns the whole text.
func (f *filling) string(name string, s map[string]any) any {
	if format, ok := formats[str(s["format"])]; ok {
		if found := format.find.FindString(f.text); found != "" {
			return found
		}
		return format.other
	}
	if re, _, err := pattern.Compile(str(s["pattern"])); err == nil && str(s["pattern"]) != "" {
		for _, word := range append([]string{f.text}, strings.Fields(f.text)...) {
			if found := re.FindString(pattern.Searched(word)); found != "" {
				return found
			}
		}
	}
	v := f.named(name)
	if least, ok := s["minLength"].(float64); ok && least <= 1024 {
		v += strings.Repeat("-", max(0, int(least)-len([]rune(v))))
	}
	if limit, ok := s["maxLength"].(float64); ok && limit >= 0 && limit < float64(len([]rune(v))) {
		v = string([]rune(v)[:int(limit)])
	}
	return v
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// about are names of free text.
var about = set("text message query question request content body summary description reason note")

func (f *filling) named(name string) string {
	words := strings.Fields(strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(split(name))))
	for i := len(words) - 1; i >= 0; i-- {
		if about[words[i]] {
			return f.text
		}
		after := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(words[i]) + `\b(?:\s+(?:is|number|no\.?|id))*[\s:#=]+([\p{L}\d][\p{L}\d_-]*)`)
		if m := after.FindStringSubmatch(f.text); m != nil {
			return m[1]
		}
	}
	if found := code.FindString(f.text); found != "" {
		return found
	}
	return f.text
}
