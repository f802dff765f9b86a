package clientgen

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const header = "// Code generated from the OpenAPI document; DO NOT EDIT.\n\npackage client\n\n"

// byHand are operations whose methods are written by hand: those that networks
// call, and those that do not use JSON.
var byHand = []string{"Billing_Receive", "Messaging_Callback", "Messaging_Handshake", "Messaging_Follow", "Messaging_SaveMedia"}

// shown are schemas for code that is written by hand: an answer, and events.
var shown = []string{"MessagingMedia", "MessagingMessage", "MessagingChat", "MessagingSession"}

// Generate returns the files of the client by their names.
func Generate(raw []byte) (map[string][]byte, error) {
	d, err := read(raw)
	if err != nil {
		return nil, err
	}
	t := newTypes(d)
	services := writeServices(d, t)
	for _, name := range shown {
		if d.Components.Schemas[name] == nil {
			return nil, fmt.Errorf("the document has no schema %s", name)
		}
		t.named(name)
	}
	var out bytes.Buffer
	out.WriteString(header + "import \"encoding/json\"\n\n")
	for _, name := range slices.Sorted(maps.Keys(t.out)) {
		out.WriteString(t.out[name])
	}
	files := map[string][]byte{}
	for name, text := range map[string][]byte{"types.gen.go": out.Bytes(), "services.gen.go": services, "codes.gen.go": writeCodes(d)} {
		if files[name], err = format.Source(text); err != nil {
			return nil, fmt.Errorf("formatting %s: %w\n%s", name, err, text)
		}
	}
	return files, nil
}

// writeCodes writes the codes of errors.
func writeCodes(d *document) []byte {
	codes := map[string]string{}
	for name, e := range d.Components.Examples {
		if _, code, ok := strings.Cut(name, "_"); ok {
			codes[code] = e.Summary
		}
	}
	var b bytes.Buffer
	b.WriteString(header + "// The codes of an [Error]. The list is open: a newer server may have more.\nconst (\n")
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		comment(&b, "\t", "", codes[code])
		fmt.Fprintf(&b, "\tCode%s = %q\n", exported(code), code)
	}
	b.WriteString(")\n")
	return b.Bytes()
}

// exported converts a name to an exported one of Go: "chatId" to ChatID.
func exported(name string) string {
	var words []string
	word := ""
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ':
			words, word = append(words, word), ""
		case unicode.IsUpper(r) && word != "" && !unicode.IsUpper(rune(word[len(word)-1])):
			words, word = append(words, word), string(r)
		default:
			word += string(r)
		}
	}
	out := ""
	for _, w := range append(words, word) {
		switch strings.ToLower(w) {
		case "":
		case "id", "url", "http", "api", "mcp", "qr", "ip", "ui", "json", "jid":
			out += strings.ToUpper(w)
		case "ids", "urls":
			out += strings.ToUpper(w[:len(w)-1]) + "s"
		default:
			out += strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return out
}

// unexported converts a name to an unexported one of Go, for an argument.
func unexported(name string) string {
	e := exported(name)
	switch {
	case e == strings.ToUpper(e):
		return strings.ToLower(e)
	case strings.HasPrefix(e, "ID") || strings.HasPrefix(e, "URL"):
		return strings.ToLower(e)
	}
	return strings.ToLower(e[:1]) + e[1:]
}

// comment writes a comment in lines of at most 100 bytes.
func comment(b interface{ WriteString(string) (int, error) }, indent, name, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	if name != "" {
		text = name + ": " + text
	}
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			_, _ = b.WriteString(indent + "//\n")
		}
		line := indent + "//"
		for _, word := range strings.Fields(paragraph) {
			if len(line)+1+len(word) > 100 {
				_, _ = b.WriteString(line + "\n")
				line = indent + "//"
			}
			line += " " + word
		}
		_, _ = b.WriteString(line + "\n")
	}
}
