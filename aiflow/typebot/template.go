package typebot

import (
	"encoding/json"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// pieces cuts a text of Typebot at its {{variables}}: texts and variables take
// turns, and a text comes first.
func pieces(text string) (texts, variables []string) {
	for {
		before, rest, open := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !open || !closed {
			return append(texts, text), variables
		}
		texts, variables = append(texts, before), append(variables, strings.TrimSpace(name))
		text = after
	}
}

// template is a text with Typebot's variables as one of ours.
func (b *builder) template(p place, text string) string {
	texts, variables := pieces(text)
	var out strings.Builder
	for i, t := range texts {
		out.WriteString(escape(t))
		if i == len(variables) {
			break
		}
		if own, known := b.names.byName[variables[i]]; known {
			out.WriteString("{{ vars." + own + " }}")
			continue
		}
		out.WriteString("{{{{" + escape(variables[i]) + "}}")
		b.changed(p, "", "{{"+truncate(variables[i], 60)+"}} is not a variable and stays unchanged")
	}
	return out.String()
}

// escape writes braces that are meant.
func escape(text string) string { return strings.ReplaceAll(text, "{{", "{{{{") }

// expression is a text with variables as an expression that makes a text.
func (n *names) expression(text string) string {
	texts, variables := pieces(text)
	var out []string
	for i, t := range texts {
		if t != "" || len(texts) == 1 {
			out = append(out, quote(t))
		}
		if i == len(variables) {
			break
		}
		if own, known := n.byName[variables[i]]; known {
			out = append(out, "string(vars."+own+")")
		} else {
			out = append(out, quote("{{"+variables[i]+"}}"))
		}
	}
	return strings.Join(out, " + ")
}

// quote writes a value in an expression.
func quote(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // texts cannot fail
	return strings.TrimSpace(b.String())
}

// maxNested bounds how deep rich text is read.
const maxNested = 20

// richText is what a bubble of text says, in the marks of WhatsApp.
func richText(content object) string {
	if rich := content.objects("richText"); len(rich) > 0 {
		lines := make([]string, len(rich))
		for i, el := range rich {
			lines[i] = element(el, "", maxNested)
		}
		return strings.TrimSpace(strings.Join(lines, "\n"))
	}
	return strings.TrimSpace(content.text("plainText"))
}

// element is a paragraph, a list, a link or a piece of text. bullet stands
// before items of a list.
func element(el object, bullet string, deep int) string {
	if deep == 0 {
		return ""
	}
	if text, is := el.m["text"].(string); is {
		return marked(el, strings.ReplaceAll(text, "\x00", ""))
	}
	kind := el.text("type")
	var parts []string
	for _, child := range el.objects("children") {
		parts = append(parts, element(child, "- ", deep-1))
	}
	switch kind {
	case "a":
		label := strings.Join(parts, "")
		if url := el.text("url"); url != "" && url != label {
			return strings.TrimSpace(label + " " + url)
		}
		return label
	case "ul", "ol":
		return strings.Join(parts, "\n")
	case "li":
		return bullet + strings.Join(parts, "")
	case "lic", "inline-variable", "variable", "":
		return strings.Join(parts, "")
	}
	return strings.Join(parts, "")
}

// marked puts the marks of WhatsApp around a text.
func marked(el object, text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return text
	}
	before, after, _ := strings.Cut(text, trimmed)
	if el.is("bold") {
		trimmed = "*" + trimmed + "*"
	}
	if el.is("italic") {
		trimmed = "_" + trimmed + "_"
	}
	return before + trimmed + after
}

// compiles says whether an expression is one.
func compiles(text string) bool {
	_, err := expression.Compile(text, scope)
	return err == nil
}

var scope = expression.NewScope(map[string]expression.Type{"vars": {Kind: expression.Map}})
