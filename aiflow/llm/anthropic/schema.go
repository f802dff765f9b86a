package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// formatOf converts a schema to the subset that the provider supports for answers.
// It moves other keywords to the description, where the model reads them. fits is
// false if the schema depends on keywords that are not supported.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
func formatOf(raw json.RawMessage) (schema map[string]any, fits bool, err error) {
	if err := json.Unmarshal(raw, &schema); err != nil || schema == nil {
		return nil, false, fmt.Errorf("reading the schema: %w", err)
	}
	schema, fits = reduce(schema, 0)
	return schema, fits, nil
}

// known are the supported keywords.
var known = map[string]bool{
	"type": true, "properties": true, "required": true, "additionalProperties": true, "items": true, "enum": true, "const": true, "anyOf": true,
	"allOf": true, "$defs": true, "title": true, "description": true, "default": true, "format": true, "minItems": true,
}

var formats = []any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// deepest limits the depth of schemas; a deeper schema becomes a description.
const deepest = 32

func reduce(in map[string]any, depth int) (map[string]any, bool) {
	if depth > deepest {
		return nil, false
	}
	if ref, ok := in["$ref"].(string); ok {
		return map[string]any{"$ref": ref}, depth > 0
	}
	out, hints := map[string]any{}, []string{}
	for _, keyword := range slices.Sorted(maps.Keys(in)) {
		v := in[keyword]
		switch {
		case keyword == "$schema" || keyword == "$id" || keyword == "$comment":
		case keyword == "oneOf":
			out["anyOf"] = v
		case !known[keyword], keyword == "format" && !slices.Contains(formats, v), keyword == "minItems" && v != 0.0 && v != 1.0:
			hints = append(hints, fmt.Sprintf("%s: %s", keyword, encode(v)))
		default:
			out[keyword] = v
		}
	}
	if len(hints) > 0 {
		about, _ := out["description"].(string)
		out["description"] = strings.TrimSpace(about + "\n" + strings.Join(hints, ", "))
	}
	return out, reduceParts(out, depth) && shaped(out)
}

// reduceParts reduces the schemas within a schema.
func reduceParts(s map[string]any, depth int) bool {
	fits := true
	sub := func(v any) any {
		m, ok := v.(map[string]any)
		if !ok {
			fits = false
			return v
		}
		m, ok = reduce(m, depth+1)
		fits = fits && ok
		return m
	}
	for _, keyword := range []string{"properties", "$defs"} {
		if named, ok := s[keyword].(map[string]any); ok {
			for name, v := range named {
				named[name] = sub(v)
			}
		}
	}
	for _, keyword := range []string{"anyOf", "allOf"} {
		if list, ok := s[keyword].([]any); ok {
			for i, v := range list {
				list[i] = sub(v)
			}
		}
	}
	if items, ok := s["items"]; ok {
		s["items"] = sub(items)
	}
	return fits
}

// shaped reports whether a schema describes values that the provider supports. The
// provider allows only the named properties of an object, so an object without any
// is not supported.
func shaped(s map[string]any) bool {
	if s["type"] == "object" {
		named, _ := s["properties"].(map[string]any)
		more := s["additionalProperties"]
		s["additionalProperties"] = false
		return len(named) > 0 && (more == nil || more == false)
	}
	for _, keyword := range []string{"type", "anyOf", "allOf", "enum", "const"} {
		if _, ok := s[keyword]; ok {
			return true
		}
	}
	return false
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}
