package flow

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// The engines that run documents. A node type names those that support it.
const (
	EngineBot  = "botengine"
	EngineFlow = "aiflow"
)

// Config is the decoded and checked configuration of one node: a pointer to a
// struct whose fields are the members of the document's `config`. It is immutable
// after its document is compiled, and many runs use it concurrently.
type Config interface {
	// Outputs returns the outputs of a node with this configuration. A name that
	// ends in ":*", such as "status:*", means a family of outputs.
	Outputs() []string
	// Check reports problems beyond the shape of the configuration. Expressions and
	// templates are compiled already.
	Check(c *Checker)
	Stepper
}

// NodeType describes a type of node: its representation in documents and in a
// palette.
type NodeType struct {
	Name    string   // of a custom type: "x." and an id
	Group   string   // in the palette: "flow", "talk", "data", "ai" or another; "" with Run: "data"
	Text    string   // one sentence for people who write flows
	Engines []string // nil: all
	Outputs []Output // in the order in which they are shown
	// Pass is the output through which a run leaves a disabled node; "": "out".
	Pass   string
	Wait   string   // what a node may wait for: "reply", "timer", "event", "handoff", "approval"
	Effect string   // its effect: "send", "http", "llm", "mcp", "event", "contact"; "" with Run: "node"
	Errors []string // codes of the errors that go to its error output

	// Run is the function of the node, made by [NodeFunc]. It is called durably
	// with the configuration; Config must be nil. The outputs of the node are
	// Outputs, by default "out", and always "error".
	Run *Runner
	// Repeat reports that calling Run twice does no harm, for example because it
	// only reads. After a crash the call is then made again. Without Repeat a call
	// that was in progress fails with the code [CodeUnknown].
	Repeat bool

	// Config returns an empty configuration: a pointer to a struct. It is for nodes
	// that do all they do within a turn, or wait for the contact. Tags describe the
	// fields:
	//
	//	json      the member's name
	//	doc       one sentence about it
	//	required  "true": the member must be there
	//	default   its value when it is not there: a string, else JSON
	//	enum      the strings it may be, separated by commas
	//	min, max  numbers and durations: their range; strings: characters;
	//	          lists and objects: members
	//	pattern   the name of a pattern: id, node, slug, variable, path, output,
	//	          credential
	//	keys      the name of the pattern of an object's member names
	//	writes    "true": the variable that it names is changed
	//	want      of an expression: boolean, number, list or date
	//	scope     of an expression, what it sees besides: answer, response,
	//	          or with loop the node's own item and index
	//
	// The tags for the items of a list and the members of a map are itemMin,
	// itemMax, itemEnum and itemPattern.
	//
	// A field is a string, bool, int, float64, [time.Duration], [Text],
	// [Expression], [Data], [Bytes], [Schema], a struct, or a list, a map with
	// string keys or a pointer of these.
	Config func() Config
}

// Output is an output of a [NodeType]: "out", or for a family "choice:<id>".
type Output struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (t NodeType) runs(engine string) bool {
	return engine == "" || len(t.Engines) == 0 || slices.Contains(t.Engines, engine)
}

func (t NodeType) pass() string {
	if t.Pass != "" {
		return t.Pass
	}
	return "out"
}

// Types are the node types that documents may use. Its methods are safe for
// concurrent use.
type Types struct {
	mu          sync.RWMutex
	byName      map[string]*nodeType
	memory      memory
	expressions *expression.Cache
	answers     AnswerReader // see [Types.ReadAnswers]
}

// nodeType is a NodeType with the shape of its configuration.
type nodeType struct {
	NodeType
	shape *shape
	own   *own // nil: the type has no Run
}

// all returns the shape of the whole configuration in documents.
func (t *nodeType) all() *shape {
	if t.own != nil {
		return t.own.all
	}
	return t.shape
}

// TypesOf returns types whose names are not those of custom types. Package node
// calls it with the built-in types. It panics if a type is invalid.
func TypesOf(nodes ...NodeType) *Types {
	t := &Types{byName: map[string]*nodeType{}}
	for _, nt := range nodes {
		if err := t.add(nt); err != nil {
			panic(err)
		}
	}
	return t.Clone()
}

// Clone returns a copy of the types. Types registered in the copy are not in the
// original, and vice versa.
func (t *Types) Clone() *Types {
	return &Types{byName: maps.Clone(t.byName), expressions: expression.NewCache(keptExpressions)}
}

// Register adds a custom node type. It returns an error if the name is taken or not
// that of a custom type, or if the tags of the configuration are invalid.
func (t *Types) Register(nt NodeType) error {
	if !ownName.MatchString(nt.Name) {
		return fmt.Errorf("flow: %q is not a name of a custom node type: it must match %s", nt.Name, ownName)
	}
	return t.add(nt)
}

func (t *Types) add(nt NodeType) error {
	made, err := newNodeType(nt)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, taken := t.byName[nt.Name]; taken {
		return fmt.Errorf("flow: there is a node type %q already", nt.Name)
	}
	t.byName[nt.Name] = made
	t.memory.clear() // cached problems may be out of date now
	return nil
}

// newNodeType derives the shape of a type's configuration.
func newNodeType(nt NodeType) (*nodeType, error) {
	switch {
	case nt.Run != nil:
		return newOwn(nt)
	case nt.Config == nil:
		return nil, fmt.Errorf("flow: node type %q has neither Run nor Config", nt.Name)
	}
	s, err := shapeOf(nt.Config())
	if err != nil {
		return nil, fmt.Errorf("flow: reading the configuration of node type %q: %w", nt.Name, err)
	}
	return &nodeType{NodeType: nt, shape: s}, nil
}

func (t *Types) get(name string) *nodeType {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

// names returns the names of all node types, sorted.
func (t *Types) names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.byName))
}

// Limits of the cache of compiled documents.
const (
	keptDocuments   = 256
	keptBytes       = 16 << 20 // of documents; compiled they take several times as much
	keptExpressions = 4096
)

// memory caches compiled documents by their hash. When it is full it evicts random
// entries: all are cheap to compile again.
type memory struct {
	mu    sync.Mutex
	kept  map[string]*compiled
	bytes int
}

func (m *memory) get(hash string) *compiled {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[hash]
}

func (m *memory) put(hash string, c *compiled) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]*compiled{}
	}
	if m.kept[hash] != nil {
		return
	}
	for old, o := range m.kept {
		if len(m.kept) < keptDocuments && m.bytes+c.size <= keptBytes {
			break
		}
		delete(m.kept, old)
		m.bytes -= o.size
	}
	m.kept[hash] = c
	m.bytes += c.size
}

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept, m.bytes = nil, 0
}

// AnswerReader reads the answers of contacts to questions. With
// [Types.ReadAnswers], a program lets questions understand the values that it finds
// in messages elsewhere. Results must depend only on the arguments, since a turn
// may be computed twice. Methods must be safe for concurrent use.
type AnswerReader interface {
	// Speaks reports whether the reader supports the language of a locale such as
	// pt-BR. In other languages it is used only for answers that a question does
	// not understand by itself.
	Speaks(locale string) bool
	// ReadAnswer reads a text that consists of one value. By kind the value is
	//
	//	date     string, YYYY-MM-DD
	//	time     string, HH:MM:SS
	//	number   int, int64 or float64
	//	email    string
	//	url      string
	//	phone    string, E.164
	//	boolean  bool
	//
	// ok is false if the text is not such a value.
	ReadAnswer(kind, text string, o AnswerOptions) (value any, ok bool)
}

// AnswerOptions determine how an answer is read.
type AnswerOptions struct {
	Locale string    // the contact's language, else the document's, such as pt-BR
	Region string    // country of the contact's phone number, else of the locale, such as BR; "": unknown
	Now    time.Time // reference point of dates, in the document's time zone
}

// ReadAnswers lets questions read answers with r. Call it before any document is
// compiled. nil: questions use only their own rules.
func (t *Types) ReadAnswers(r AnswerReader) { t.answers = r }

// Extractor finds entities and intents in texts. Results must depend only on the
// arguments, since a turn may be computed twice.
type Extractor interface {
	// Entities returns values of the given types and dictionaries, by type.
	Entities(text string, types []string, locale string, now time.Time) (map[string]any, error)
	// Intent returns the two most likely intents of an extractor, the better first.
	Intent(extractor, text, locale string) ([]Intent, error)
}

// Intent is a possible intent of a message.
type Intent struct {
	ID         string  `json:"id"`
	Confidence float64 `json:"confidence"` // from 0 to 1
}
