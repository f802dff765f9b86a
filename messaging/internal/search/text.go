package search

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// Text is what can be found of a message, in lines: its text, caption, title and file
// name, and the values that extractors found in it. "" for what says nothing by itself,
// such as a reaction or a vote.
func Text(b *payload.Body) string {
	if b.Reaction != nil || b.Revoked != nil || b.Unsupported != nil || b.Poll.IsVote() {
		return ""
	}
	lines := []string{b.Text, b.Caption, b.Title, b.FileName}
	for _, name := range slices.Sorted(maps.Keys(b.Extracted)) {
		var v any
		if json.Unmarshal(b.Extracted[name], &v) == nil {
			lines = appendTexts(lines, v)
		}
	}
	var out []string
	seen := map[string]bool{}
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" && !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// appendTexts appends the texts in a value of JSON.
func appendTexts(lines []string, v any) []string {
	switch v := v.(type) {
	case string:
		lines = append(lines, v)
	case []any:
		for _, item := range v {
			lines = appendTexts(lines, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			lines = appendTexts(lines, v[name])
		}
	}
	return lines
}

// Edited is what can be found of a message after an edit, which replaces its text or
// its caption.
func Edited(b, edit *payload.Body) string {
	now := *b
	if text := cmp.Or(edit.Text, edit.Caption); now.Type == "" || now.Type == payload.TypeText {
		now.Text = text
	} else {
		now.Caption = text
	}
	return Text(&now)
}
