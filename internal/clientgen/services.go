package clientgen

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writeServices writes a type with methods for each service.
func writeServices(d *document, t *types) []byte {
	services := map[string][]*operation{}
	for _, op := range d.operations() {
		services[op.service] = append(services[op.service], op)
	}
	about := map[string]string{}
	for _, tag := range d.Tags {
		about[tag.Name] = tag.Description
	}
	names := slices.Sorted(maps.Keys(services))
	var b bytes.Buffer
	b.WriteString("// services are what the API consists of.\ntype services struct {\n")
	for _, name := range names {
		fmt.Fprintf(&b, "\t%s *%s // %s\n", name, name, about[name])
	}
	b.WriteString("}\n\nfunc (c *Client) bind() {\nc.services = services{\n")
	for _, name := range names {
		fmt.Fprintf(&b, "\t%s: &%s{c},\n", name, name)
	}
	b.WriteString("}\n}\n\n")
	for _, name := range names {
		comment(&b, "", "", name+": "+about[name])
		fmt.Fprintf(&b, "type %s struct{ c *Client }\n\n", name)
		for _, op := range services[name] {
			if !slices.Contains(byHand, op.ID) {
				writeMethod(&b, t, op)
			}
		}
	}
	imports := []string{"context", "iter", "net/http"}
	if bytes.Contains(b.Bytes(), []byte("json.")) {
		imports = append(imports, "encoding/json")
	}
	slices.Sort(imports)
	return []byte(header + "import (\n\"" + strings.Join(imports, "\"\n\"") + "\"\n)\n\n" + b.String())
}

// argument is an argument of a method.
type argument struct {
	name, typ string
	in        *parameter // nil: the body
}

// writeMethod writes the method of an operation. Its optional parameters are a
// struct. A list with a cursor also gets an iterator over all pages.
func writeMethod(b *bytes.Buffer, t *types, op *operation) {
	var args []argument
	var optional []*parameter
	for _, p := range op.Parameters {
		switch {
		case p.Required:
			args = append(args, argument{unexported(p.Name), t.goType(p.Schema, ""), p})
		default:
			optional = append(optional, p)
		}
	}
	slices.SortStableFunc(args, func(x, y argument) int { return strings.Compare(x.in.In, y.in.In) }) // header, path, query
	if s := op.RequestBody.of("application/json"); s != nil {
		args = append(args, argument{"in", t.goType(s, t.nameOf(op, "Request")), nil})
	}
	params := ""
	if len(optional) > 0 {
		params = t.nameOf(op, "Params")
		writeParams(b, t, op, params, optional)
		args = append(args, argument{"p", "*" + params, nil})
	}
	answer := answerOf(t, op)
	writeCall(b, op, args, answer)
	if item, ok := strings.CutPrefix(answer, "Page["); ok {
		var cursors []string // names of the cursor
		for _, p := range optional {
			if p.Name == "cursor" || p.Name == "before" {
				cursors = append(cursors, exported(p.Name))
			}
		}
		if len(cursors) > 0 {
			writeWalk(b, op, args, params, strings.TrimSuffix(item, "]"), cursors)
		}
	}
}

// answerOf returns the type of an operation's answer; "": none.
func answerOf(t *types, op *operation) string {
	var all []*schema
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if s := op.Responses[status].of("application/json"); s != nil && status < "300" {
			if len(s.OneOf) > 0 {
				all = append(all, s.OneOf...)
				continue
			}
			all = append(all, s)
		}
	}
	all = slices.CompactFunc(all, func(x, y *schema) bool { return x.Ref != "" && x.Ref == y.Ref })
	switch len(all) {
	case 0:
		return ""
	case 1:
		return t.goType(all[0], t.nameOf(op, "Answer"))
	}
	return t.either(&schema{OneOf: all, Description: "What " + op.ID + " answers: the members of whatever it may be."}, t.nameOf(op, "Answer"))
}

func writeParams(b *bytes.Buffer, t *types, op *operation, name string, optional []*parameter) {
	fmt.Fprintf(b, "// %s are what [%s.%s] may be told; nil: nothing.\ntype %s struct {\n", name, op.service, op.name, name)
	for _, p := range optional {
		comment(b, "\t", "", text(&schema{Description: p.Description, Enum: p.Schema.Enum}))
		typ := t.goType(p.Schema, "")
		if typ == "Time" { // 0 is not the year 1
			typ = "int64"
		}
		if typ == "bool" || typ == "int64" || typ == "float64" {
			typ = "*" + typ
		}
		fmt.Fprintf(b, "\t%s %s `%s:%q`\n", exported(p.Name), typ, p.In, p.Name)
	}
	b.WriteString("}\n\n")
}

func signature(args []argument) string {
	out := "ctx context.Context"
	for _, a := range args {
		out += ", " + a.name + " " + a.typ
	}
	return out
}

func writeCall(b *bytes.Buffer, op *operation, args []argument, answer string) {
	comment(b, "", "", op.name+" is "+op.method+" "+op.path+": "+op.Summary+".\n\n"+op.Description)
	result := "error"
	if answer != "" {
		result = "(*" + answer + ", error)"
	}
	fmt.Fprintf(b, "func (s *%s) %s(%s) %s {\n", op.service, op.name, signature(args), result)
	fmt.Fprintf(b, "r := request{id: %q, method: http.Method%s, path: %q", op.ID, op.method[:1]+strings.ToLower(op.method[1:]), op.path)
	for _, a := range args {
		switch {
		case a.name == "in" && a.in == nil:
			b.WriteString(", body: in")
		case a.name == "p" && a.in == nil:
			b.WriteString(", params: p")
		}
	}
	b.WriteString("}\n")
	for _, a := range args {
		if a.in != nil {
			fmt.Fprintf(b, "r.%s(%q, %s)\n", map[string]string{"path": "inPath", "query": "inQuery", "header": "inHeader"}[a.in.In], a.in.Name, a.name)
		}
	}
	if answer == "" {
		b.WriteString("return s.c.call(ctx, &r, nil)\n}\n\n")
		return
	}
	fmt.Fprintf(b, "return answer[%s](ctx, s.c, &r)\n}\n\n", answer)
}

// writeWalk writes the iterator over all pages of a list.
func writeWalk(b *bytes.Buffer, op *operation, args []argument, params, item string, cursors []string) {
	fmt.Fprintf(b, "// All%s walks through all pages of [%s.%s]. After an error it ends.\n", op.name, op.service, op.name)
	fmt.Fprintf(b, "func (s *%s) All%s(%s) iter.Seq2[%s, error] {\n", op.service, op.name, signature(args), item)
	var names []string
	for _, a := range args {
		names = append(names, a.name)
	}
	q := "q"
	if slices.Contains(names, q) {
		q = "params"
	}
	names[len(names)-1] = "&" + q
	fmt.Fprintf(b, "var %[1]s %[2]s\nif p != nil {\n%[1]s = *p\n}\n", q, params)
	set := q + "." + strings.Join(cursors, ", "+q+".") + " = cursor" + strings.Repeat(`, ""`, len(cursors)-1)
	fmt.Fprintf(b, "return walk(func(cursor string) (*Page[%s], error) {\nif cursor != \"\" {\n%s\n}\nreturn s.%s(ctx, %s)\n})\n}\n\n", item, set, op.name, strings.Join(names, ", "))
}
