package typebot

import (
	"fmt"
	"strings"
)

// expects are the inputs that a question understands.
var expects = map[string]string{
	"text input": "text", "number input": "number", "email input": "email", "url input": "url", "date input": "date", "time input": "time",
	"phone number input": "phone", "choice input": "choice", "picture choice input": "choice", "rating input": "integer", "file input": "file",
}

func isInput(kind string) bool { return expects[kind] != "" }

// input asks, with the text of the bubble before it, and waits. It reports
// whether it has that text.
func (b *builder) input(p place, prompt string) bool {
	in := b.graph.at(p)
	kind, options := in.text("type"), in.object("options")
	config := map[string]any{"expect": expects[kind]}
	if saveTo := b.names.variable(options.text("variableId")); saveTo != "" {
		config["saveTo"] = saveTo
	}
	if retry := b.template(p, options.text("retryMessageContent")); retry != "" {
		config["retryMessage"] = retry
	}
	if expects[kind] != "text" {
		config["retries"] = 10 // there it asks for ever
	}
	if expects[kind] == "choice" {
		return b.choice(p, prompt, config)
	}
	if prompt != "" {
		config["prompt"] = map[string]any{"text": prompt}
	}
	node := b.step(p, "question", config)
	switch kind {
	case "number input":
		b.bound(p, node, "min")
		b.bound(p, node, "max")
	case "date input":
		if options.is("hasTime") {
			config["expect"] = "datetime"
		}
		if options.is("isRange") {
			b.changed(p, node.id, "a range of dates became one date")
		}
	case "rating input":
		length, is := options.number("length")
		if !is || length < 1 || length > 1000 {
			length = 10
		}
		config["min"], config["max"] = 1, int(length)
		if options.object("oneClickSubmit").m == nil && strings.EqualFold(options.text("buttonType"), "numbers") {
			config["min"] = 0
		}
	case "file input":
		if options.is("isMultipleAllowed") {
			b.changed(p, node.id, "only one file is accepted")
		}
	}
	return true
}

// bound takes over a bound that is a number.
func (b *builder) bound(p place, node *part, name string) {
	options := b.graph.at(p).object("options")
	if _, is := options.number(name); is {
		node.config[name] = options.m[name]
		return
	}
	texts, variables := pieces(options.text(name))
	switch {
	case len(variables) == 1 && texts[0]+texts[1] == "" && b.names.byName[variables[0]] != "":
		node.config[name] = "{{ number(vars." + b.names.byName[variables[0]] + ") }}"
	case options.text(name) != "":
		b.changed(p, node.id, name+" is not a number and was left out")
	}
}

type choice struct {
	id, title string
	item      object
}

const maxChoices = 20

// choice asks for one of several. It reports whether it has the prompt.
func (b *builder) choice(p place, prompt string, config map[string]any) bool {
	choices := b.choices(p)
	if len(choices) == 0 {
		config["expect"] = "text"
		delete(config, "retries")
		if prompt != "" {
			config["prompt"] = map[string]any{"text": prompt}
		}
		node := b.step(p, "question", config)
		b.changed(p, node.id, "the choices come from a variable: any text is accepted")
		return true
	}
	has := prompt != ""
	if !has {
		prompt = "👇"
	}
	config["choices"] = listed(choices)
	config["prompt"] = menu(prompt, choices)
	node := b.step(p, "question", config)
	b.chosen(p, node, choices)
	options := b.graph.at(p).object("options")
	if options.is("isMultipleChoice") {
		b.changed(p, node.id, "only one choice is accepted")
	}
	if b.graph.at(p).text("type") == "picture choice input" {
		b.changed(p, node.id, "the pictures of the choices were left out")
	}
	return has
}

// choices are the items of a block.
func (b *builder) choices(p place) []choice {
	var out []choice
	ids, titles := map[string]bool{}, map[string]bool{}
	items := b.graph.at(p).objects("items")
	if len(items) > maxChoices {
		b.problem("error", codeBlock, p, "", fmt.Sprintf("has more than %d choices: the others were left out", maxChoices), "")
		items = items[:maxChoices]
	}
	for i, item := range items {
		raw := strings.TrimSpace(item.text("content"))
		if raw == "" {
			raw = strings.TrimSpace(item.text("title"))
		}
		title := b.template(p, raw)
		if title == "" || titles[strings.ToLower(title)] {
			b.changed(p, "", fmt.Sprintf("choice %d has no title of its own and was left out", i+1))
			continue
		}
		titles[strings.ToLower(title)] = true
		id := choiceID(raw)
		if id == "" || ids[id] {
			id = fmt.Sprintf("choice_%d", i+1)
		}
		ids[id] = true
		out = append(out, choice{id, title, item})
		if item.object("displayCondition").is("isEnabled") {
			b.changed(p, "", fmt.Sprintf("choice %d is always shown", i+1))
		}
	}
	return out
}

// choiceID is an id made of a title; "" if none can be.
func choiceID(title string) string {
	id := strings.TrimRight(truncate(ascii(title, '_'), 24), "_")
	if id == "" || id[0] < 'a' || strings.HasPrefix(id, "choice_") {
		return ""
	}
	return id
}

func listed(choices []choice) []any {
	out := make([]any, len(choices))
	for i, c := range choices {
		out[i] = map[string]any{"id": c.id, "title": c.title}
	}
	return out
}

// menu is a prompt with its choices: buttons where there are few short ones,
// else a list, else a numbered text.
func menu(prompt string, choices []choice) map[string]any {
	maxLength, templates := 0, false
	for _, c := range choices {
		maxLength = max(maxLength, len([]rune(c.title)))
		templates = templates || strings.Contains(c.title, "{{")
	}
	switch {
	case templates || maxLength > 24 || len(choices) > 10:
		lines := []string{prompt, ""}
		for i, c := range choices {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, c.title))
		}
		return map[string]any{"text": strings.Join(lines, "\n")}
	case maxLength <= 20 && len(choices) <= 3:
		buttons := make([]any, len(choices))
		for i, c := range choices {
			buttons[i] = map[string]any{"id": c.id, "title": c.title}
		}
		return map[string]any{"kind": "buttons", "text": prompt, "buttons": buttons}
	}
	return map[string]any{"kind": "list", "text": prompt, "sections": []any{map[string]any{"rows": listed(choices)}}}
}

// chosen connects choices to where they lead. A variable takes the title, as
// it does there: the answer of a question is the id.
func (b *builder) chosen(p place, node *part, choices []choice) {
	saveTo, _ := node.config["saveTo"].(string)
	titles := map[string]string{}
	for _, c := range choices {
		edge := b.graph.edge(c.item)
		switch {
		case edge == "" && saveTo != "" && !strings.Contains(c.title, "{{") && !strings.Contains(c.title, "}}"):
			titles[c.id] = c.title
		case saveTo != "":
			to := b.graph.onward(p)
			if edge != "" {
				to = link{edge: edge, to: nowhere.to}
			}
			set := b.assign(p, saveTo, c.title)
			set.next["out"] = to
			node.next["choice:"+c.id] = link{node: set.id}
		case edge != "":
			node.next["choice:"+c.id] = link{edge: edge, to: nowhere.to}
		}
	}
	if len(titles) > 0 {
		set := b.assign(p, saveTo, "{{ get("+quote(titles)+", vars."+saveTo+", vars."+saveTo+") }}")
		set.next["out"] = b.graph.onward(p)
		node.next["out"] = link{node: set.id}
	}
}

func (b *builder) assign(p place, name, value string) *part {
	return b.node(p, "set", map[string]any{"assign": []any{map[string]any{"var": name, "value": value}}})
}
