package typebot

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// condition goes one way of several.
func (b *builder) condition(p place) {
	var branches []any
	next := map[string]link{"else": b.graph.onward(p)}
	for i, item := range b.graph.at(p).objects("items") {
		content := item.object("content")
		if content.m == nil { // of older exports
			content = item
		}
		when, ok := b.when(p, content)
		if !ok {
			continue
		}
		id := fmt.Sprintf("b%d", i+1)
		branches = append(branches, map[string]any{"id": id, "when": when})
		next[id] = link{edge: b.graph.edge(item), to: nowhere.to}
	}
	if len(branches) > 0 {
		b.begin(p, "condition", map[string]any{"branches": branches}).next = next
	}
}

// when is a condition as an expression.
func (b *builder) when(p place, content object) (string, bool) {
	var terms []string
	for _, c := range content.objects("comparisons") {
		term, ok := b.names.comparison(c)
		if !ok {
			b.problem("error", codeBlock, p, "", "a comparison has no counterpart: its branch was left out", "add it as a branch of the condition")
			return "", false
		}
		terms = append(terms, "("+term+")")
	}
	if len(terms) == 0 {
		b.changed(p, "", "a condition compares nothing: its branch was left out")
		return "", false
	}
	if content.text("logicalOperator") == "OR" {
		return strings.Join(terms, " or "), true
	}
	return strings.Join(terms, " and "), true
}

// jsPattern is a regular expression as JavaScript writes it.
var jsPattern = regexp.MustCompile(`^/(.*)/([a-z]*)$`)

// comparison is a comparison as an expression.
func (n *names) comparison(c object) (string, bool) {
	own := n.variable(c.text("variableId"))
	if own == "" {
		return "", false
	}
	has, value := "string(vars."+own+")", n.expression(c.text("value"))
	numbers := func(sign string) (string, bool) {
		return "number(vars." + own + ") " + sign + " " + n.quantity(c.text("value")), true
	}
	switch c.text("comparisonOperator") {
	case "Equal to":
		return has + " == " + value, true
	case "Not equal":
		return has + " != " + value, true
	case "Contains":
		return "lower(" + has + ") contains lower(" + value + ")", true
	case "Does not contain":
		return "not (lower(" + has + ") contains lower(" + value + "))", true
	case "Starts with":
		return "lower(" + has + ") startsWith lower(" + value + ")", true
	case "Ends with":
		return "lower(" + has + ") endsWith lower(" + value + ")", true
	case "Is set":
		return has + ` != ""`, true
	case "Is empty":
		return has + ` == ""`, true
	case "Greater than":
		return numbers(">")
	case "Greater or equal to":
		return numbers(">=")
	case "Less than":
		return numbers("<")
	case "Less or equal to":
		return numbers("<=")
	case "Matches regex":
		pattern, ok := re2(c.text("value"))
		return has + " matches " + pattern, ok
	case "Does not match regex":
		pattern, ok := re2(c.text("value"))
		return "not (" + has + " matches " + pattern + ")", ok
	}
	return "", false
}

// quantity is a number that a text writes, or that variables do.
func (n *names) quantity(text string) string {
	if _, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && literalNumber.MatchString(strings.TrimSpace(text)) {
		return strings.TrimSpace(text)
	}
	return "number(" + n.expression(text) + ")"
}

var literalNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$`)

// re2 writes a regular expression of JavaScript as one of ours, if there is
// one.
func re2(pattern string) (string, bool) {
	flags := ""
	if m := jsPattern.FindStringSubmatch(pattern); m != nil {
		pattern = m[1]
		for _, f := range m[2] {
			if slices.Contains([]rune("ims"), f) {
				flags += string(f)
			}
		}
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	_, err := regexp.Compile(pattern)
	return quote(pattern), err == nil && !strings.Contains(pattern, "{{")
}

// redirect sends the address: a contact cannot be redirected in a chat.
func (b *builder) redirect(p place) {
	url := b.template(p, strings.TrimSpace(b.graph.at(p).object("options").text("url")))
	if url == "" {
		b.changed(p, "", "has no address and was left out")
		return
	}
	node := b.step(p, "message", map[string]any{"text": url})
	b.changed(p, node.id, "the address is sent as a message")
}

func (b *builder) script(p place) {
	b.omit(p, codeCode, "JavaScript is not supported", "use set nodes with expressions, and http nodes for the rest")
}

// wait waits for some seconds.
func (b *builder) wait(p place) {
	seconds := strings.TrimSpace(b.graph.at(p).object("options").text("secondsToWaitFor"))
	if n, err := strconv.ParseFloat(seconds, 64); err == nil {
		n = max(1, min(n, 90*24*3600))
		b.step(p, "delay", map[string]any{"for": "PT" + strconv.FormatFloat(n, 'f', -1, 64) + "S"})
		return
	}
	if seconds == "" {
		return
	}
	b.step(p, "delay", map[string]any{"for": "PT" + b.template(p, seconds) + "S"})
}

// jump goes to a group, or a block.
func (b *builder) jump(p place) {
	options := b.graph.at(p).object("options")
	if to, is := b.graph.locate(options); is {
		b.graph.through[p] = link{to: to}
		return
	}
	b.changed(p, "", "has no target and was left out")
}

// typebotLink continues in a group of the same typebot, or in another one.
func (b *builder) typebotLink(p place) {
	options := b.graph.at(p).object("options")
	if id := options.text("typebotId"); id == "current" || id == b.export.text("id") && id != "" {
		if to, is := b.graph.locate(options); is {
			b.graph.through[p] = link{to: to}
			return
		}
	}
	b.omit(p, codeBlock, "it leads to another typebot", "import that typebot into the same project, and use a flow node here")
}

// abTest draws one of two ways.
func (b *builder) abTest(p place) {
	percent, is := b.graph.at(p).object("options").number("aPercent")
	if !is {
		percent = 50
	}
	weights := map[string]int{"a": int(percent), "b": 100 - int(percent)}
	var branches []any
	next := map[string]link{}
	for i, item := range b.graph.at(p).objects("items") {
		id := item.text("path")
		if id != "a" && id != "b" {
			id = []string{"a", "b"}[min(i, 1)]
		}
		if _, twice := next[id]; twice || weights[id] < 1 {
			continue
		}
		branches = append(branches, map[string]any{"id": id, "weight": weights[id]})
		next[id] = link{edge: b.graph.edge(item), to: nowhere.to}
		b.graph.through[p] = next[id]
	}
	if len(branches) > 1 {
		b.begin(p, "random", map[string]any{"branches": branches}).next = next
	}
}

// listen waits for a call of another system.
func (b *builder) listen(p place) {
	node := b.step(p, "wait", map[string]any{"event": "webhook"})
	b.changed(p, node.id, "it waits for POST /aiflow/run/{id}/event with the name webhook")
}
