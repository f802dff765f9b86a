// Package contract checks a server against its OpenAPI document: it validates
// answers as they pass, and reports those that violate the document.
package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Problem is the content type of errors.
const Problem = "application/problem+json"

// Document is an OpenAPI 3.1 document for checking answers. It is safe for
// concurrent use.
type Document struct {
	routes   []string // paths; literal ones come before those with parameters
	schemas  *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by their position in the document
	mu       sync.Mutex                    // guards both
	paths    map[string]map[string]*operation
	shared   map[string]*response
}

type operation struct {
	ID          string `json:"operationId"`
	RequestBody *response
	Responses   map[string]*response
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema   any
		Examples map[string]any
	}
}

// Read parses a document.
func Read(raw []byte) (*Document, error) {
	var in struct {
		Paths      map[string]map[string]*operation
		Components struct{ Responses map[string]*response }
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	d := &Document{
		schemas: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{},
		paths: in.Paths, shared: in.Components.Responses,
	}
	d.schemas.DefaultDraft(jsonschema.Draft2020)
	if err := d.schemas.AddResource("openapi.json", whole); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	d.routes = slices.SortedFunc(maps.Keys(d.paths), func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	return d, nil
}

// Exchange is a request with its answer. Bodies are truncated after 4 MiB.
type Exchange struct {
	Operation    string // its id; "": the document does not have the path
	Method, Path string // the path as in the document
	URL          *url.URL
	RequestType  string
	Request      []byte
	Status       int
	Header       http.Header
	Response     []byte
	Cut          bool // Response is incomplete
}

// Code returns the code of an error answer, or "".
func (e Exchange) Code() string {
	var p struct{ Code string }
	if mediaType(e.Header) != Problem || json.Unmarshal(e.Response, &p) != nil {
		return ""
	}
	return p.Code
}

// rank sorts parameters after all literals.
func rank(path string) string { return strings.ReplaceAll(path, "{", "\U0010FFFF") }

// find returns the operation of a request; nil: there is none.
func (d *Document) find(r *http.Request) (path string, op *operation) {
	for _, path := range d.routes {
		if op := d.paths[path][strings.ToLower(r.Method)]; op != nil && matches(path, r.URL.Path) {
			return path, op
		}
	}
	return "", nil
}

func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") && g != "" })
}

// Check returns an error if an answer violates the document. It ignores paths that
// the document does not have.
func (d *Document) Check(e Exchange) error {
	op := d.paths[e.Path][strings.ToLower(e.Method)]
	switch {
	case op == nil:
		return nil
	case e.Status == http.StatusMethodNotAllowed: // it concerns the path, not an operation
		return d.fits("#/components/schemas/Problem", e.Response)
	}
	reported, at := op.Responses[fmt.Sprint(e.Status)], pointer("paths", e.Path, strings.ToLower(e.Method), "responses", fmt.Sprint(e.Status))
	if reported == nil {
		return fmt.Errorf("the document has no status %d: %.300s", e.Status, e.Response)
	}
	if reported.Ref != "" {
		at = reported.Ref
		reported = d.shared[strings.TrimPrefix(reported.Ref, "#/components/responses/")]
	}
	kind := mediaType(e.Header)
	if len(reported.Content) == 0 {
		if len(e.Response) > 0 {
			return fmt.Errorf("the document has no body of %d: %.300s", e.Status, e.Response)
		}
		return nil
	}
	content, ok := reported.Content[kind]
	switch {
	case !ok:
		return fmt.Errorf("the document has no %q of %d", kind, e.Status)
	case kind == Problem && content.Examples[e.Code()] == nil:
		return fmt.Errorf("the document has no code %q of %d", e.Code(), e.Status)
	case e.Cut || !strings.HasSuffix(kind, "json"):
		return nil
	}
	return d.fits(at+pointer("content", kind, "schema")[1:], e.Response)
}

// fits validates JSON against the schema at a position.
func (d *Document) fits(at string, raw []byte) error {
	s, err := d.schema(at)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%w\n%.2000s", err, raw)
	}
	return nil
}

func (d *Document) schema(at string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.compiled[at]; ok {
		return s, nil
	}
	s, err := d.schemas.Compile("openapi.json" + at)
	if err != nil {
		return nil, fmt.Errorf("reading the schema at %s: %w", at, err)
	}
	d.compiled[at] = s
	return s, nil
}

// CheckExample checks an example of an operation against the document. Either part
// may be nil.
func (d *Document) CheckExample(id, status string, request, answer json.RawMessage) error {
	for path, methods := range d.paths {
		for method, op := range methods {
			if op.ID != id {
				continue
			}
			var err error
			if request != nil {
				err = d.fits(pointer("paths", path, method, "requestBody", "content", "application/json", "schema"), request)
			}
			if answer != nil {
				err = errors.Join(err, d.fits(pointer("paths", path, method, "responses", status, "content", "application/json", "schema"), answer))
			}
			return err
		}
	}
	return fmt.Errorf("the document has no operation %s", id)
}

// WithoutExample returns the requests and answers in JSON that have no example.
// Error answers are not included.
func (d *Document) WithoutExample() []string {
	var out []string
	for _, methods := range d.paths {
		for _, op := range methods {
			if op.RequestBody != nil && op.RequestBody.silent() {
				out = append(out, op.ID+" request")
			}
			for status, r := range op.Responses {
				if status < "300" && r.silent() {
					out = append(out, op.ID+" "+status)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// silent reports whether there is JSON without an example.
func (r *response) silent() bool {
	for kind, c := range r.Content {
		if strings.HasSuffix(kind, "json") && len(c.Examples) == 0 {
			return true
		}
	}
	return false
}

// pointer returns the position of a value in a document, as a fragment of a URL.
func pointer(names ...string) string {
	p := ""
	for _, n := range names {
		p += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(n)
	}
	return "#" + (&url.URL{Path: p}).EscapedPath()
}

func mediaType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// Breaches collects violations of a document.
type Breaches struct {
	mu       sync.Mutex
	reported []string
}

// Add adds the violation of one exchange, once.
func (b *Breaches) Add(e Exchange, err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	line := fmt.Sprintf("%s %s (%s): %v", e.Method, e.Path, e.Operation, err)
	if len(b.reported) < 20 && !slices.Contains(b.reported, line) {
		b.reported = append(b.reported, line)
	}
}

// Err returns an error with all violations.
func (b *Breaches) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.reported) == 0 {
		return nil
	}
	return errors.New("answers that the OpenAPI document does not have:\n" + strings.Join(b.reported, "\n"))
}
