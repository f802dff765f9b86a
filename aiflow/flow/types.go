package flow

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// The engines that run documents. A node type says which of them have it.
const (
	EngineBot  = "botengine"
	EngineFlow = "aiflow"
)

// Config is the decoded and checked configuration of one node: a pointer to a
// struct whose fields are the members of the document's `config`. It does not
// change once its document is compiled, and is used by many runs at once.
type Config interface {
	// Outputs are the outputs that a node with this configuration has. One
	// that ends in ":*" stands for all of its family, as "status:*".
	Outputs() []string
	// Check finds what is wrong beyond the shape of the configuration. The
	// expressions and templates in it are compiled already.
	Check(c *Checker)
	Stepper
}

// NodeType is a type of node: what a document may say of it, and what a
// palette shows.
type NodeType struct {
	Name    string   // of one's own: "x." and an id
	Group   string   // of the palette: "flow", "talk", "data", "ai" or one's own; "" with Run: "data"
	Text    string   // one sentence for people who write flows
	Engines []string // nil: all
	Outputs []Output // in the order in which they are shown
	// Pass is the output that a disabled node goes through; "": "out".
	Pass   string
	Wait   string   // what a node may wait for: "reply", "timer", "event", "handoff", "approval"
	Effect string   // what it does to the world: "send", "http", "llm", "mcp", "event", "contact"; "" with Run: "node"
	Errors []string // codes of the errors that go to its error output

	// Run is what the node does, made by [NodeFunc]: a function that is called
	// durably. Its argument is the configuration, and Config is nil. Without
	// Outputs the node has "out", and "error" always.
	Run *Runner
	// Repeat says that calling Run twice does no harm, as where it only looks
	// something up: a call is made again after a crash. A call of others that was
	// under way then is not, and ends with the code [CodeUnknown].
	Repeat bool

	// Config is for nodes that do all they do in their turn, or wait for the
	// contact: it makes an empty configuration: a pointer to a struct. Its fields
	// are described by tags:
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
	// The tags of the items of a list and the members of a map are itemMin,
	// itemMax, itemEnum and itemPattern.
	//
	// A field is a string, bool, int, float64, [time.Duration], [Text],
	// [Expression], [Data], [Bytes], [Schema], a struct, or a list, a map by
	// strings or a pointer of these.
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

// Types are the node types that documents may use. Their methods may be called
// at the same time.
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
	own   *own // nil: it has no Run
}

// all is the shape of the configuration as documents have it.
func (t *nodeType) all() *shape {
	if t.own != nil {
		return t.own.all
	}
	return t.shape
}

// TypesOf returns node types whose names are not those of own types: package
// node calls it with the built-in ones. A mistake in a type panics.
func TypesOf(nodes ...NodeType) *Types {
	t := &Types{byName: map[string]*nodeType{}}
	for _, nt := range nodes {
		if err := t.add(nt); err != nil {
			panic(err)
		}
	}
	return t.Clone()
}

// Clone returns the same types with room for others: what is registered in one
// is not in the other.
func (t *Types) Clone() *Types {
	return &Types{byName: maps.Clone(t.byName), expressions: expression.NewCache(keptExpressions)}
}

// Register adds a node type of one's own. A name that is taken or is none of
// one's own, and a configuration that the tags do not describe, are errors.
func (t *Types) Register(nt NodeType) error {
	if !ownName.MatchString(nt.Name) {
		return fmt.Errorf("flow: %q is no name of a node type of one's own: it must match %s", nt.Name, ownName)
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
	t.memory.clear() // what was unknown may be known now
	return nil
}

// newNodeType reads the configuration of a type.
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

// names are all node types in the order of their names.
func (t *Types) names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.byName))
}

// Limits of what is kept compiled.
const (
	keptDocuments   = 256
	keptBytes       = 16 << 20 // of documents; compiled they take several times that
	keptExpressions = 4096
)

// memory keeps what documents compiled to, by their hash. Which of them go
// when it is full is left to chance: all are cheap to make again.
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

// AnswerReader reads what contacts answer to questions. A program that finds
// values in messages gives its own to [Types.ReadAnswers], so that a question
// understands what the program finds elsewhere. What it returns must depend on
// its arguments alone, for a turn may be computed twice. It is used by many
// goroutines at once.
type AnswerReader interface {
	// Speaks says whether it knows the language of a locale, as pt-BR. The
	// answers in other languages it reads only where a question does not
	// understand them by itself.
	Speaks(locale string) bool
	// ReadAnswer reads a text that is one value and nothing else. By its kind
	// that is
	//
	//	date     string, YYYY-MM-DD
	//	time     string, HH:MM:SS
	//	number   int, int64 or float64
	//	email    string
	//	url      string
	//	phone    string, E.164
	//	boolean  bool
	//
	// and ok is false when the text is no such value.
	ReadAnswer(kind, text string, o AnswerOptions) (value any, ok bool)
}

// AnswerOptions say how an answer is meant.
type AnswerOptions struct {
	Locale string    // the contact's language, else the document's, as pt-BR
	Region string    // the country of the contact's phone number, else of the locale, as BR; "": unknown
	Now    time.Time // what dates are relative to, in the document's time zone
}

// ReadAnswers has questions understand answers as r does. Call it before a
// document is compiled. nil: by themselves alone.
func (t *Types) ReadAnswers(r AnswerReader) { t.answers = r }

// Extractor understands text. Its answers must depend on its arguments
// alone, for a turn may be computed twice.
type Extractor interface {
	// Entities finds values of the given types, and of dictionaries, by type.
	Entities(text string, types []string, locale string, now time.Time) (map[string]any, error)
	// Intent ranks the intents of an extractor: the best two, better first.
	Intent(extractor, text, locale string) ([]Intent, error)
}

// Intent is what the author of a message may have meant.
type Intent struct {
	ID         string  `json:"id"`
	Confidence float64 `json:"confidence"` // from 0 to 1
}
