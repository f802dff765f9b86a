package mock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// reply returns the text of the assistant, or the tools that it calls.
func reply(r *llm.Request) (string, []llm.ToolCall) {
	asked, came := question(r), results(r)
	if call, ok := wanted(r, asked); ok && len(came) == 0 {
		return "", []llm.ToolCall{call}
	}
	if r.Schema != nil {
		return fill(r.Schema, asked), nil
	}
	if len(came) > 0 {
		return report(came), nil
	}
	if s := known(r.System, asked); s != "" {
		return s, nil
	}
	return smalltalk(asked), nil
}

// wanted returns a call of the tool that matches the question best. If a call is
// required and no tool matches, it is the first tool.
func wanted(r *llm.Request, asked string) (llm.ToolCall, bool) {
	if r.Choice == llm.ChoiceNone || len(r.Tools) == 0 {
		return llm.ToolCall{}, false
	}
	words, best, limit := wordsOf(asked), 0, 0
	for i, t := range r.Tools {
		// A word of the name counts twice as much as one of the description. Two
		// words of the description are enough to choose a tool.
		score := 2*common(words, wordsOf(t.Name)) + common(words, wordsOf(t.Description))
		if score > limit {
			best, limit = i, score
		}
	}
	if limit < 2 && r.Choice != llm.ChoiceRequired {
		return llm.ToolCall{}, false
	}
	t := r.Tools[best]
	return llm.ToolCall{ID: fmt.Sprintf("call_%d", len(r.Messages)), Name: t.Name, Arguments: arguments(t.Schema, asked)}, true
}

// report returns a text with the results of tools.
func report(came []llm.ToolResult) string {
	var found, failed []string
	for _, c := range came {
		if c.IsError {
			failed = append(failed, readable(c.Content))
		} else {
			found = append(found, readable(c.Content))
		}
	}
	var out []string
	if len(found) > 0 {
		out = append(out, "Here is what I found: "+strings.Join(found, "; "))
	}
	if len(failed) > 0 {
		out = append(out, "This did not work: "+strings.Join(failed, "; "))
	}
	return strings.Join(out, " ")
}

// data matches the frame that marks a tool's result as data.
var data = regexp.MustCompile(`(?s)^<data[^>]*>\n?(.*?)\n?</data>$`)

// readable formats a flat JSON object for people. Anything else stays as it is.
func readable(content string) string {
	if inner := data.FindStringSubmatch(strings.TrimSpace(content)); inner != nil {
		content = inner[1]
	}
	d := json.NewDecoder(strings.NewReader(content))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return content
	}
	var out []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return content
		}
		value, err := d.Token()
		if _, nested := value.(json.Delim); nested || err != nil {
			return content
		}
		value = cmp.Or(value, "unknown")
		out = append(out, fmt.Sprintf("%v: %v", key, value))
	}
	if len(out) == 0 {
		return content
	}
	return strings.Join(out, ", ")
}

// known returns the sentence of the instructions that has the most words in common
// with a question, and at least two. It never returns the first sentence, which
// tells the model what it is.
func known(system, asked string) string {
	words, best, limit := wordsOf(asked), "", 1
	for i, s := range sentences(system) {
		if n := common(words, wordsOf(s)); i > 0 && n > limit {
			best, limit = s, n
		}
	}
	return best
}

func smalltalk(asked string) string {
	words := strings.FieldsFunc(strings.ToLower(asked), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range words {
		switch w {
		case "hi", "hello", "hey", "good", "hola", "oi", "olá":
			return "Hello! How can I help you?"
		case "thanks", "thank", "gracias", "obrigado", "obrigada":
			return "You are welcome!"
		}
	}
	if asked == "" {
		return "Hello! How can I help you?"
	}
	return "I am the mock assistant, and know no more than my instructions and tools. You wrote: " + asked
}
