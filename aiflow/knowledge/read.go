package knowledge

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/trunklinehq/trunkline/internal/text"
)

// The supported types of files.
const (
	typeText     = "text/plain"
	typeMarkdown = "text/markdown"
	typeCSV      = "text/csv"
	typeJSON     = "application/json"
	typeHTML     = "text/html"
)

// byEnding maps extensions of file names to types.
var byEnding = map[string]string{
	".txt": typeText, ".md": typeMarkdown, ".markdown": typeMarkdown, ".csv": typeCSV, ".json": typeJSON, ".html": typeHTML, ".htm": typeHTML,
}

// typeOf returns the type of a file: the declared one, or else the one of the
// extension.
func typeOf(name, said string) (string, error) {
	kind, _, err := mime.ParseMediaType(said)
	known := slices.Contains([]string{typeText, typeMarkdown, typeCSV, typeJSON, typeHTML}, kind)
	ending := byEnding[strings.ToLower(path.Ext(name))]
	switch {
	case known && kind != typeText:
		return kind, nil
	case ending != "" && (err != nil || known || kind == "application/octet-stream"):
		return ending, nil
	case known, strings.HasPrefix(kind, "text/"):
		return typeText, nil
	}
	return "", ErrUnsupported
}

// maxText limits the text of a file including headings, columns and paths, which
// are repeated for everything below them.
const maxText = 4 * MaxFile

// room is the number of bytes that are left for the text of a file.
type room int

// take reserves room for texts. It reports whether there is enough.
func (r *room) take(texts ...string) bool {
	for _, t := range texts {
		*r -= room(len(t) + 16) // includes the overhead of a text
	}
	return *r >= 0
}

// section is a part of a file under one heading.
type section struct {
	heading string   // including the headings above: "Rooms > Prices"
	blocks  []string // paragraphs, rows
}

// read extracts the text of a file.
func read(kind string, data []byte) ([]section, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, &Invalid{Field: "data", Message: "must be text in UTF-8 without zero bytes"}
	}
	switch kind {
	case typeMarkdown:
		return markdown(string(data))
	case typeCSV:
		return table(data)
	case typeJSON:
		return tree(data)
	case typeHTML:
		return website(data)
	}
	return []section{{blocks: paragraphs(string(data))}}, nil
}

func paragraphs(text string) (out []string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for block := range strings.SplitSeq(text, "\n\n") {
		if block = strings.TrimSpace(block); block != "" {
			out = append(out, block)
		}
	}
	return out
}

// headings are the headings above a position in a file, by level.
type headings [6]string

// set sets the heading of a level from 1 to 6, and removes the lower ones.
func (h *headings) set(level int, title string) {
	h[level-1] = text.Truncate(title, maxHeading)
	clear(h[level:])
}

func (h *headings) String() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(h[:]), func(s string) bool { return s == "" }), " > ")
}

// markdown splits a file at its headings, ignoring those in fenced code.
func markdown(text string) ([]section, error) {
	var out []section
	left := room(maxText)
	var above headings
	var lines []string
	flush := func() {
		if blocks := paragraphs(strings.Join(lines, "\n")); len(blocks) > 0 && left.take(above.String()) {
			out = append(out, section{above.String(), blocks})
		}
		lines = lines[:0]
	}
	fenced := false
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if fenced || level < 1 || level > 6 || !strings.HasPrefix(line[level:], " ") {
			lines = append(lines, line)
			continue
		}
		flush()
		above.set(level, strings.TrimSpace(strings.TrimRight(line[level:], "# ")))
	}
	flush()
	if left < 0 {
		return nil, &TooLarge{"text", maxText}
	}
	return out, nil
}

// table makes a block of each row, in which every value has its column's name.
func table(data []byte) ([]section, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, false
	if first, _, _ := bytes.Cut(data, []byte("\n")); bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		r.Comma = ';'
	}
	var names []string
	var s section
	left := room(maxText)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return []section{s}, nil
		}
		if err != nil {
			return nil, &Invalid{Field: "data", Message: "is not valid CSV: " + err.Error()}
		}
		if names == nil {
			for i := range row {
				row[i] = text.Truncate(row[i], maxHeading)
			}
			names = row
			continue
		}
		var fields []string
		for i, value := range row {
			if value = strings.TrimSpace(value); value == "" {
				continue
			}
			if i < len(names) && names[i] != "" {
				value = names[i] + ": " + value
			}
			fields = append(fields, value)
		}
		if len(fields) == 0 {
			continue
		}
		if !left.take(fields...) {
			return nil, &TooLarge{"text", maxText}
		}
		s.blocks = append(s.blocks, strings.Join(fields, "; "))
	}
}

// tree makes a line of each value of a JSON document, with the names above it.
func tree(data []byte) ([]section, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, &Invalid{Field: "data", Message: "is not valid JSON: " + err.Error()}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &Invalid{Field: "data", Message: "is more than one JSON value"}
	}
	f := flat{left: maxText}
	f.add("", v)
	if f.left < 0 {
		return nil, &TooLarge{"text", maxText}
	}
	return []section{f.section}, nil
}

// flat is what has been made of a JSON document.
type flat struct {
	section
	left room
}

// say adds a block that stands at a place.
func (f *flat) say(at, text string) {
	if f.left.take(at, text) {
		f.blocks = append(f.blocks, at+text)
	}
}

// add adds the objects of a value that hold plain values, each as one block.
func (f *flat) add(at string, v any) {
	if f.left < 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		var fields []string
		for _, name := range sorted(v) {
			if plain, is := scalar(v[name]); is {
				fields = append(fields, name+": "+plain)
			}
		}
		if len(fields) > 0 {
			f.say(strings.TrimPrefix(at+"\n", "\n"), strings.Join(fields, "; "))
		}
		for _, name := range sorted(v) {
			if _, is := scalar(v[name]); !is {
				f.add(text.Truncate(strings.TrimPrefix(at+" > "+name, " > "), maxHeading), v[name])
			}
		}
	case []any:
		for _, item := range v {
			f.add(at, item)
		}
	default:
		plain, _ := scalar(v)
		f.say(strings.TrimPrefix(at+": ", ": "), plain)
	}
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// website takes the visible text out of HTML, cut at its headings.
func website(data []byte) ([]section, error) {
	z := html.NewTokenizer(bytes.NewReader(data))
	z.SetMaxBuf(MaxFile)
	w := webpage{left: maxText}
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, &Invalid{Field: "data", Message: fmt.Sprintf("is not valid HTML: %v", err)}
			}
			if w.flush(); w.left < 0 {
				return nil, &TooLarge{"text", maxText}
			}
			return w.sections, nil
		case html.TextToken:
			w.say(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			w.open(atom.Lookup(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			w.close(atom.Lookup(name))
		}
	}
}

// webpage is what has been read of one.
type webpage struct {
	sections []section
	left     room
	above    headings
	blocks   []string
	text     strings.Builder
	hidden   int // elements around that are not shown
	heading  int // level of the heading that is being read
}

func hides(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Head, atom.Template, atom.Noscript, atom.Svg:
		return true
	}
	return false
}

func level(a atom.Atom) int {
	return slices.Index([]atom.Atom{0, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, a)
}

func inline(a atom.Atom) bool {
	return slices.Contains([]atom.Atom{
		0, atom.A, atom.B, atom.I, atom.Em, atom.Strong, atom.Span, atom.Code, atom.Small, atom.Sub, atom.Sup, atom.Mark, atom.Abbr, atom.U,
	}, a)
}

func (w *webpage) say(text string) {
	if w.hidden == 0 {
		w.text.WriteString(html.UnescapeString(text))
	}
}

func (w *webpage) open(a atom.Atom) {
	switch {
	case hides(a):
		w.hidden++
	case level(a) > 0:
		w.flush()
		w.heading = level(a)
	case a == atom.Td || a == atom.Th:
		w.text.WriteString(" ")
	case !inline(a):
		w.block()
	}
}

func (w *webpage) close(a atom.Atom) {
	switch {
	case hides(a):
		w.hidden = max(w.hidden-1, 0)
	case level(a) > 0 && w.heading > 0:
		w.above.set(w.heading, strings.Join(strings.Fields(w.text.String()), " "))
		w.text.Reset()
		w.heading = 0
	case !inline(a) && a != atom.Td && a != atom.Th:
		w.block()
	}
}

// block ends a paragraph.
func (w *webpage) block() {
	if w.heading > 0 {
		return
	}
	if text := strings.Join(strings.Fields(w.text.String()), " "); text != "" {
		w.blocks = append(w.blocks, text)
	}
	w.text.Reset()
}

func (w *webpage) flush() {
	w.heading = 0
	w.block()
	if len(w.blocks) > 0 && w.left.take(w.above.String()) {
		w.sections = append(w.sections, section{w.above.String(), w.blocks})
	}
	w.blocks = nil
}
