package typebot

import (
	"encoding/json"
	"regexp"
	"strings"
)

// setValues are the values of blocks that name what they set.
var setValues = map[string]any{
	"Empty": nil, "Now": "{{ now }}", "Today": "{{ formatDate(now, 'YYYY-MM-DD') }}",
	"Tomorrow": "{{ addDuration(now, 'P1D') }}", "Yesterday": "{{ addDuration(now, '-P1D') }}",
	"Phone number": "{{ contact.phone }}", "Contact name": "{{ contact.name }}", "User ID": "{{ contact.id }}", "Result ID": "{{ run.id }}",
	"Environment name":  "whatsapp",
	"Moment of the day": "{{ datePart(now, 'hour') < 12 ? 'morning' : datePart(now, 'hour') < 18 ? 'afternoon' : datePart(now, 'hour') < 22 ? 'evening' : 'night' }}",
}

// setVariable sets a variable.
func (b *builder) setVariable(p place) {
	options := b.graph.at(p).object("options")
	own := b.names.variable(options.text("variableId"))
	if own == "" {
		b.changed(p, "", "sets no variable and was left out")
		return
	}
	assign := func(list ...any) { b.step(p, "set", map[string]any{"assign": list}) }
	to := func(name string, value any) any { return map[string]any{"var": name, "value": value} }
	kind := options.text("type")
	value, named := setValues[kind]
	switch {
	case named:
		assign(to(own, value))
	case kind == "Append value(s)":
		assign(map[string]any{"var": own, "op": "append", "value": b.template(p, options.text("item"))})
	case kind == "Pop" || kind == "Shift":
		end, rest := "last(vars."+own+")", "{{ (vars."+own+" ?? [])[:-1] }}"
		if kind == "Shift" {
			end, rest = "first(vars."+own+")", "{{ (vars."+own+" ?? [])[1:] }}"
		}
		var list []any
		if item := b.names.variable(options.text("saveItemInVariableId")); item != "" {
			list = append(list, to(item, "{{ "+end+" }}"))
		}
		assign(append(list, to(own, rest))...)
	case kind == "" || kind == "Custom":
		v, ok := b.custom(p, options)
		if !ok {
			b.omit(p, codeCode, "JavaScript is not supported: "+own+" is not set", "write the value as an expression in a set node")
			return
		}
		assign(to(own, v))
	default:
		b.omit(p, codeBlock, "\""+truncate(kind, 60)+"\" has no counterpart: "+own+" is not set", "")
	}
}

var (
	literal = regexp.MustCompile(`^(-?(0|[1-9][0-9]*)(\.[0-9]+)?|true|false|null|"[^"\\{}]*"|'[^'\\{}]*')$`)
	sums    = regexp.MustCompile(`^[0-9.\s()+\-*/%?]*$`) // of an expression whose variables are ?
	signs   = regexp.MustCompile(`[+\-*/%]`)
	code    = regexp.MustCompile("[;`]|=>|\\breturn\\b|\\bfunction\\b|\\b(const|let|var|new|await)\\s|[A-Za-z_\\])]\\s*\\(|\\}\\}\\s*[.\\[]|[=!]==|&&|\\|\\|")
)

// custom is a value that is written: a literal, a sum, or a text.
func (b *builder) custom(p place, options object) (any, bool) {
	text := strings.TrimSpace(options.text("expressionToEvaluate"))
	if literal.MatchString(text) {
		return literalOf(text), true
	}
	texts, variables := pieces(text)
	if len(variables) == 1 && texts[0]+texts[1] == "" && b.names.byName[variables[0]] != "" {
		return "{{ vars." + b.names.byName[variables[0]] + " }}", true
	}
	if marks := strings.Join(texts, "?"); sums.MatchString(marks) && signs.MatchString(marks) {
		return b.names.sum(texts, variables)
	}
	if options.is("isCode") || code.MatchString(text) {
		return nil, false
	}
	return b.template(p, text), true
}

func literalOf(text string) any {
	if text[0] == '\'' || text[0] == '"' {
		return text[1 : len(text)-1]
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&v) // it is a literal
	return v
}

// sum is arithmetic on variables. One that is empty counts as 0.
func (n *names) sum(texts, variables []string) (any, bool) {
	var out strings.Builder
	for i, t := range texts {
		out.WriteString(t)
		if i == len(variables) {
			break
		}
		own, known := n.byName[variables[i]]
		if !known {
			return nil, false
		}
		out.WriteString("(number(vars." + own + ") ?? 0)")
	}
	return "{{ " + strings.TrimSpace(out.String()) + " }}", compiles(out.String())
}
