package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Format is the format of documents that this package reads.
const Format = "trunkline-flow/1"

// The kinds of documents.
const (
	KindFlow     = "flow"     // starts with its trigger
	KindFunction = "function" // is called by a call node or an agent
)

// Document is a flow or a function as its author wrote it. [Decode] returns it. It
// is read-only: changing its fields does not change what it compiles to.
type Document struct {
	Format       string           `json:"format" required:"true" max:"64" doc:"Always trunkline-flow/1."`
	Kind         string           `json:"kind" required:"true" enum:"flow,function" doc:"flow: starts with its trigger; function: is called by flows and agents."`
	Engine       string           `json:"engine" enum:"botengine,aiflow" doc:"Engine that runs the document. If absent, either can."`
	Slug         string           `json:"slug" required:"true" pattern:"slug" doc:"Name of the document in other documents."`
	Name         string           `json:"name" required:"true" min:"1" max:"128" doc:"Name of the document, for people."`
	Description  string           `json:"description" max:"2000" doc:"Purpose of the document, for people."`
	Start        string           `json:"start" required:"true" pattern:"node" doc:"Id of the first node."`
	Settings     Settings         `json:"settings" doc:"Settings for all nodes."`
	Variables    map[string]Typed `json:"variables" max:"200" keys:"variable" doc:"Declarations of the variables in vars."`
	Args         map[string]Typed `json:"args" max:"32" doc:"Arguments of a function."`
	Returns      map[string]Typed `json:"returns" max:"32" doc:"Values that a function returns."`
	Nodes        map[string]Node  `json:"nodes" required:"true" min:"1" max:"1000" keys:"node" doc:"The nodes, by id."`
	Translations json.RawMessage  `json:"translations" doc:"Texts in other languages."`
	Dependencies json.RawMessage  `json:"dependencies" doc:"Versions of functions and models, written when the document is published."`
	UI           json.RawMessage  `json:"ui" doc:"Positions and notes of the editor."`

	root     *tree // in the current format, without ui
	problems []Problem

	once sync.Once
	text []byte // canonical
	hash string
}

// Settings apply to a whole document.
type Settings struct {
	Timezone      string        `json:"timezone" max:"64" default:"UTC" doc:"Time zone: a name of the IANA database, for example Europe/Berlin."`
	Locale        string        `json:"locale" max:"35" pattern:"locale" doc:"Language of numbers and dates, for example de-DE."`
	ReplyTimeout  time.Duration `json:"replyTimeout" min:"PT10S" max:"P30D" doc:"How long questions without a timeout of their own wait. Default: without limit."`
	OnError       string        `json:"onError" pattern:"node" doc:"Id of the node for errors without a connected output error."`
	Interruptible bool          `json:"interruptible" default:"false" doc:"Whether a trigger of another flow may end a run of this one."`
}

// Typed declares a variable, an argument or a returned value.
type Typed struct {
	Type        string          `json:"type" required:"true" enum:"string,number,integer,boolean,date,datetime,list,object,any" doc:"Type of the value."`
	Default     json.RawMessage `json:"default" any:"true" doc:"Initial value. If absent, null."`
	Required    bool            `json:"required" doc:"Whether an argument or a returned value must be given."`
	Description string          `json:"description" max:"500" doc:"Purpose of the variable, for people."`
	Secret      bool            `json:"secret" doc:"Whether its value is kept out of traces."`
}

// Node is one node.
type Node struct {
	Type     string            `json:"type" required:"true" max:"64" doc:"Type of the node."`
	Name     string            `json:"name" max:"64" doc:"Name of the node, for people."`
	Disabled bool              `json:"disabled" doc:"Whether the node is skipped."`
	Config   json.RawMessage   `json:"config" doc:"Configuration, as the type defines it."`
	Next     map[string]string `json:"next" max:"60" keys:"output" itemPattern:"node" doc:"Id of the next node, by output."`
}

// Canonical returns the document in canonical form: without white space and ui,
// members sorted, numbers in their shortest form. Two documents with the same
// canonical form behave the same.
func (d *Document) Canonical() []byte {
	d.once.Do(d.canonicalize)
	return d.text
}

// Hash returns the SHA-256 of Canonical in hexadecimal.
func (d *Document) Hash() string {
	d.once.Do(d.canonicalize)
	return d.hash
}

func (d *Document) canonicalize() {
	if d.root != nil {
		d.text = d.root.canonical()
	}
	d.hash = hashOf(d.text)
}

// MaxDraft is the maximum size of a draft, in bytes.
const MaxDraft = 2 << 20

// CheckDraft refuses a draft that is not a JSON object in UTF-8 with unique
// members. The error is a [Problem].
func CheckDraft(draft []byte) error {
	refused := func(path, message string) error {
		return Problem{Severity: SeverityError, Code: "shape.draft", Path: path, Message: message}
	}
	if len(draft) > MaxDraft {
		return refused("", fmt.Sprintf("must have at most %d bytes", MaxDraft))
	}
	if !utf8.Valid(draft) {
		return refused("", "must be UTF-8")
	}
	if !bytes.HasPrefix(bytes.TrimLeft(draft, " \t\r\n"), []byte("{")) {
		return refused("", "must be a JSON object")
	}
	_, problems := Decode(draft)
	for _, p := range problems {
		if p.Code == "shape.syntax" || p.Code == "shape.duplicate" {
			return refused(p.Path, p.Message)
		}
	}
	return nil
}

// maxSlug is the maximum number of characters of a slug.
const maxSlug = 64

// SlugOf derives a document's slug from a name for people; other is the slug for a
// name without letters and digits.
func SlugOf(name, other string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := b.String()
	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	if slug == "" {
		return other
	}
	return slug
}

// version is the version in Format.
const version = 1

// migrations convert a document of one version to the next: the first converts
// version 1 to version 2. They depend only on the document, and must not change
// after a release.
var migrations []func(*tree) *tree

// upgrade converts a document to the current format. It returns nil, and reports a
// problem, if the format is unknown.
func upgrade(root *tree, r *report) *tree {
	format := root.get("format")
	if format == nil {
		return root // a missing format is reported with the other problems
	}
	text, known := strings.CutPrefix(format.text, "trunkline-flow/")
	from, err := strconv.Atoi(text)
	switch {
	case format.kind != kindString || !known || err != nil || from < 1:
		r.problem("format.unknown", "is not a format of flows", "write "+Format, "format")
		return nil
	case from > version:
		r.problem("format.newer", "is newer than this version of Trunkline", "upgrade Trunkline; the newest format that it reads is "+Format, "format")
		return nil
	}
	return migrate(root, from, migrations)
}

// migrate converts a document from a version to the newest.
func migrate(root *tree, from int, steps []func(*tree) *tree) *tree {
	for _, step := range steps[min(from-1, len(steps)):] {
		root = step(root)
	}
	if from <= len(steps) {
		root = with(root, "format", &tree{kind: kindString, text: "trunkline-flow/" + strconv.Itoa(len(steps)+1)})
	}
	return root
}

// with returns a copy of an object whose member name is value.
func with(t *tree, name string, value *tree) *tree {
	out := without(t, name)
	out.members = append(out.members, member{name, value})
	return out
}

// without returns a copy of an object without a member.
func without(t *tree, name string) *tree {
	out := &tree{kind: kindObject, members: make([]member, 0, len(t.members))}
	for _, m := range t.members {
		if m.name != name {
			out.members = append(out.members, m)
		}
	}
	return out
}
