package openai

import "slices"

// strict reports whether strict mode supports a schema: all properties of each
// object must be required, others must not be allowed, and only some keywords may
// be used.
//
// Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
func strict(schema map[string]any) bool {
	return schema["type"] == "object" && schema["anyOf"] == nil && strictly(schema)
}

// known are the keywords that a strict schema may have.
var known = []string{
	"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "definitions", "title", "description",
	"pattern", "format", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "minItems", "maxItems",
}

// formats are the formats that a strict schema may have.
var formats = []any{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

func strictly(schema map[string]any) bool {
	for keyword, v := range schema {
		if !slices.Contains(known, keyword) || keyword == "format" && !slices.Contains(formats, v) {
			return false
		}
	}
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		named, _ := schema[keyword].(map[string]any)
		for _, sub := range named {
			if s, ok := sub.(map[string]any); !ok || !strictly(s) {
				return false
			}
		}
	}
	options, _ := schema["anyOf"].([]any)
	if items := schema["items"]; items != nil {
		options = append(slices.Clone(options), items)
	}
	for _, sub := range options {
		if s, ok := sub.(map[string]any); !ok || !strictly(s) {
			return false
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] != "object" && properties == nil {
		return true
	}
	required, _ := schema["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return schema["additionalProperties"] == false
}
