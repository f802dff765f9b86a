package runtime

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// loaded is a source made ready to run.
type loaded struct {
	hash    string
	source  Source
	program *flow.Program
	stored  atomic.Bool // this process knows it to be in the database
}

// stored is a source as its table has it.
type stored struct {
	Document  json.RawMessage   `json:"document"`
	Functions []json.RawMessage `json:"functions"`
}

// Refused reports a source that does not compile.
type Refused struct {
	Problems []flow.Problem // errors and warnings
}

// Error names the first problem.
func (e *Refused) Error() string {
	for _, p := range e.Problems {
		if p.Severity == flow.SeverityError {
			return "runtime: the flow has an error: " + p.Code + " at " + p.Path + ": " + p.Message
		}
	}
	return "runtime: the flow has an error"
}

// hash names a source by its content.
func (s Source) hash() string {
	if len(s.Functions) == 0 {
		return s.Document.Hash()
	}
	sums := make([]string, 0, len(s.Functions))
	for _, f := range s.Functions {
		sums = append(sums, f.Hash())
	}
	slices.Sort(sums)
	sum := sha256.Sum256([]byte(s.Document.Hash() + " " + strings.Join(sums, " ")))
	return hex.EncodeToString(sum[:])
}

func (s Source) encode() (string, error) {
	out := stored{Document: s.Document.Canonical(), Functions: []json.RawMessage{}}
	for _, f := range s.Functions {
		out.Functions = append(out.Functions, f.Canonical())
	}
	raw, err := json.Marshal(out)
	return string(raw), err
}

// decodeSource reads what encode wrote.
func decodeSource(body string) (Source, error) {
	var in stored
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		return Source{}, err
	}
	var src Source
	for i, raw := range append([]json.RawMessage{in.Document}, in.Functions...) {
		d, problems := flow.Decode(raw)
		if d == nil {
			return Source{}, &Refused{problems}
		}
		if i == 0 {
			src.Document = d
		} else {
			src.Functions = append(src.Functions, d)
		}
	}
	return src, nil
}

// compile makes a source ready to run.
func (p *programs) compile(src Source) (*loaded, error) {
	if src.Document == nil {
		return nil, errors.New("runtime: a Source needs a Document")
	}
	l := &loaded{hash: src.hash(), source: src}
	if known := p.get(l.hash); known != nil {
		return known, nil
	}
	env := &flow.Environment{Published: true, Functions: map[string]*flow.Document{}}
	for _, f := range src.Functions {
		env.Functions[f.Slug] = f
	}
	var problems []flow.Problem
	if l.program, problems = p.types.Compile(src.Document, env); l.program == nil {
		return nil, &Refused{problems}
	}
	p.put(l)
	return l, nil
}

// load reads the source of a run and makes it ready.
func (p *programs) load(ctx context.Context, hash string) (*loaded, error) {
	if known := p.get(hash); known != nil {
		return known, nil
	}
	var body string
	err := p.db.GetContext(ctx, &body, `SELECT body FROM flow_document WHERE hash = $1`, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	src, err := decodeSource(body)
	if err != nil {
		return nil, fmt.Errorf("reading document %s: %w", hash, err)
	}
	return p.compile(src)
}

// versionKey names a version of a flow.
type versionKey struct {
	engine, owner string
	version       int64
}

// version makes a version of an engine's flow ready to run. What is published never
// changes, so it is read once.
func (p *programs) version(ctx context.Context, e Engine, account, owner string, version int64) (*loaded, error) {
	key := versionKey{e.Name(), owner, version}
	p.mu.Lock()
	l := p.byVersion[key]
	p.mu.Unlock()
	if l != nil && version > 0 {
		return l, nil
	}
	src, err := e.Source(ctx, account, owner, version)
	if err != nil {
		return nil, fmt.Errorf("reading version %d of flow %s: %w", version, owner, err)
	}
	if l, err = p.compile(src); err != nil {
		return nil, fmt.Errorf("preparing flow %s: %w", owner, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byVersion == nil || len(p.byVersion) >= maxPrograms {
		p.byVersion = map[versionKey]*loaded{}
	}
	p.byVersion[key] = l
	return l, nil
}

// keep stores a source unless it is stored.
func (p *programs) keep(ctx context.Context, tx *database.Tx, l *loaded) error {
	if l.stored.Load() {
		return nil
	}
	body, err := l.source.encode()
	if err != nil {
		return fmt.Errorf("writing a document: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO flow_document (hash, body, created_us) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		l.hash, body, database.Micros(p.now()))
	if err != nil {
		return fmt.Errorf("storing a document: %w", err)
	}
	return nil
}

// maxPrograms bounds the programs and the versions that are kept ready; beyond it, all
// are forgotten.
const maxPrograms = 1000

// programs keeps what was compiled.
type programs struct {
	db    *database.DB
	types *flow.Types
	now   func() time.Time

	mu        sync.Mutex
	byHash    map[string]*loaded
	byVersion map[versionKey]*loaded
}

func (p *programs) get(hash string) *loaded {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byHash[hash]
}

func (p *programs) put(l *loaded) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byHash == nil || len(p.byHash) >= maxPrograms {
		p.byHash = map[string]*loaded{}
	}
	p.byHash[l.hash] = l
}
