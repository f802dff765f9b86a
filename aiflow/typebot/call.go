package typebot

import (
	"encoding/json"
	"regexp"
	"strings"
)

// http calls an address.
func (b *builder) http(p place) {
	options := b.graph.at(p).object("options")
	request := options.object("webhook")
	if request.m == nil {
		request = b.graph.at(p).object("webhook") // of older exports
	}
	url := b.template(p, strings.TrimSpace(request.text("url")))
	if url == "" {
		b.omit(p, codeBlock, "the request has no address in the export", "enter it in the http node")
		return
	}
	config := map[string]any{"url": url, "method": method(request)}
	for _, part := range []struct{ from, to string }{{"headers", "headers"}, {"queryParams", "query"}} {
		if values := b.pairs(p, request.objects(part.from)); len(values) > 0 {
			config[part.to] = values
		}
	}
	if body := strings.TrimSpace(request.text("body")); body != "" && config["method"] != "GET" {
		config["body"] = b.body(p, body)
	}
	if n, is := options.number("timeout"); is {
		config["timeout"] = "PT" + json.Number(trimmed(max(1, min(n, 60)))).String() + "S"
	}
	if extract := b.extract(p, options); len(extract) > 0 {
		config["extract"] = extract
	}
	node := b.step(p, "http", config)
	node.next["error"] = b.graph.onward(p) // there a request that fails does not end the conversation
}

func trimmed(f float64) string {
	raw, _ := json.Marshal(f) // it is finite
	return string(raw)
}

func method(request object) string {
	switch m := strings.ToUpper(request.text("method")); m {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD":
		return m
	}
	return "POST"
}

func (b *builder) pairs(p place, list []object) map[string]any {
	out := map[string]any{}
	for _, kv := range list {
		if key := strings.TrimSpace(kv.text("key")); key != "" {
			out[key] = b.template(p, kv.text("value"))
		}
	}
	return out
}

// body is JSON if it is that once variables are in it, else a text.
func (b *builder) body(p place, raw string) map[string]any {
	var value any
	d := json.NewDecoder(strings.NewReader(b.quoted(p, raw)))
	d.UseNumber()
	if d.Decode(&value) == nil && !d.More() {
		return map[string]any{"kind": "json", "value": value}
	}
	return map[string]any{"kind": "text", "value": b.template(p, raw)}
}

// quoted is JSON with variables in it, which are in texts or instead of
// values, as JSON whose texts are templates.
func (b *builder) quoted(p place, raw string) string {
	texts, variables := pieces(raw)
	var out strings.Builder
	inText := false
	for i, t := range texts {
		inText = ends(t, inText)
		out.WriteString(t)
		if i == len(variables) {
			break
		}
		name := b.template(p, "{{"+variables[i]+"}}")
		if !inText {
			name = `"` + name + `"`
		}
		out.WriteString(name)
	}
	return out.String()
}

// ends says whether JSON that begins in a text, or not, ends in one.
func ends(part string, inText bool) bool {
	escaped := false
	for _, r := range part {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && inText:
			escaped = true
		case r == '"':
			inText = !inText
		}
	}
	return inText
}

// bodyPath is a place in a response, as data.items[0].name.
var bodyPath = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]{1,9}\])*$`)

// extract takes values out of the response.
func (b *builder) extract(p place, options object) []any {
	var out []any
	for _, m := range options.objects("responseVariableMapping") {
		own, at := b.names.variable(m.text("variableId")), strings.TrimSpace(m.text("bodyPath"))
		if own == "" {
			continue
		}
		where := "response.body"
		switch {
		case at == "" || at == "data":
		case at == "statusCode":
			where = "response.status"
		case bodyPath.MatchString(at) && compiles("vars."+strings.TrimPrefix(at, "data.")):
			where += "." + strings.TrimPrefix(at, "data.")
		default:
			b.problem("error", codeCode, p, "", "the path in the response is not valid: "+own+" is not set", "write it in extract of the http node")
			continue
		}
		out = append(out, map[string]any{"var": own, "path": where})
	}
	return out
}

// model asks a language model.
func (b *builder) model(p place) {
	in := b.graph.at(p)
	options := in.object("options")
	action := options.text("action")
	if action == "" {
		action = options.text("task")
	}
	if !strings.EqualFold(action, "Create chat completion") && !strings.EqualFold(action, "Create Chat Message") {
		b.omit(p, codeBlock, "\""+truncate(action, 60)+"\" of a language model has no counterpart", "use an assistant or an agent node")
		return
	}
	config := map[string]any{"model": modelName(in.text("type"), options.text("model")), "send": false}
	b.messages(p, options, config)
	for _, m := range options.objects("responseMapping") {
		item := m.text("item")
		if item == "" {
			item = m.text("valueToExtract")
		}
		if own := b.names.variable(m.text("variableId")); own != "" && strings.EqualFold(item, "Message content") {
			config["saveTo"] = own
		}
	}
	node := b.step(p, "assistant", config)
	b.changed(p, node.id, "the model needs a key on this server; the memory of the assistant replaces the messages")
}

// modelName is a model with its provider. Other providers than two are asked
// by the interface of OpenAI.
func modelName(block, model string) string {
	if model = strings.TrimSpace(model); model == "" || strings.ContainsAny(model, " {}") {
		if block == "anthropic" {
			return "anthropic/claude-sonnet-4-5"
		}
		return "openai/gpt-4o-mini"
	}
	if block == "anthropic" {
		return "anthropic/" + truncate(model, 100)
	}
	return "openai/" + truncate(model, 100)
}

// messages are the instructions and the input of a model. What came before in
// the conversation it remembers by itself.
func (b *builder) messages(p place, options object, config map[string]any) {
	var instructions []string
	if system := options.text("systemMessage"); system != "" {
		instructions = append(instructions, b.template(p, system))
	}
	for _, m := range options.objects("messages") {
		content := b.template(p, m.text("content"))
		switch strings.ToLower(m.text("role")) {
		case "system":
			instructions = append(instructions, content)
		case "user":
			config["input"] = content
		}
	}
	if len(instructions) > 0 {
		config["instructions"] = strings.Join(instructions, "\n")
	}
}
