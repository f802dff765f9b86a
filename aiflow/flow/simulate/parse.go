package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/pattern"
)

const (
	maxName  = 200     // characters of a test's name
	maxTests = 1 << 20 // bytes of a list of tests

	maxTimers = 1000 // of a session; a run has one for what it waits for, and one for each call around
)

// Invalid reports something that cannot be played.
type Invalid struct {
	Path    string // where, as [2].steps[0].advance; "": the whole
	Message string
}

func (e *Invalid) Error() string { return "simulate: " + strings.TrimSpace(e.Path+" "+e.Message) }

// at is err with a path in front of its own.
func at(path string, err error) error {
	if bad, ok := errors.AsType[*Invalid](err); ok {
		return &Invalid{Path: path + bad.Path, Message: bad.Message}
	}
	return err
}

// ParseTests reads a list of tests. Unlike their own UnmarshalJSON it takes
// only what can be played: an [*Invalid] names the place of what cannot.
func ParseTests(raw []byte) ([]Test, error) {
	if len(raw) > maxTests || !utf8.Valid(raw) {
		return nil, &Invalid{Path: "", Message: "must be UTF-8 of at most 1 MiB"}
	}
	var list []json.RawMessage
	if err := strictly(raw, &list); err != nil {
		return nil, err
	}
	if len(list) > MaxTests {
		return nil, &Invalid{Path: "", Message: fmt.Sprintf("must have at most %d tests", MaxTests)}
	}
	out := make([]Test, len(list))
	for i, item := range list {
		var err error
		if out[i], err = parseTest(item); err != nil {
			return nil, at(fmt.Sprintf("[%d]", i), err)
		}
	}
	return out, nil
}

func parseTest(raw []byte) (Test, error) {
	var in struct {
		Name  string            `json:"name"`
		Given json.RawMessage   `json:"given"`
		Steps []json.RawMessage `json:"steps"`
	}
	if err := strictly(raw, &in); err != nil {
		return Test{}, err
	}
	if strings.TrimSpace(in.Name) == "" || utf8.RuneCountInString(in.Name) > maxName || strings.ContainsRune(in.Name, 0) {
		return Test{}, &Invalid{Path: ".name", Message: fmt.Sprintf("must have 1 to %d characters", maxName)}
	}
	if len(in.Steps) > MaxSteps {
		return Test{}, &Invalid{Path: ".steps", Message: fmt.Sprintf("must have at most %d steps", MaxSteps)}
	}
	out := Test{Name: in.Name, Steps: make([]Step, len(in.Steps))}
	if in.Given != nil {
		var err error
		if out.Given, err = ParseGiven(in.Given); err != nil {
			return Test{}, at(".given", err)
		}
	}
	for i, step := range in.Steps {
		var err error
		if out.Steps[i], err = parseStep(step); err != nil {
			return Test{}, at(fmt.Sprintf(".steps[%d]", i), err)
		}
	}
	return out, nil
}

// ParseGiven reads the world of a simulation. An [*Invalid] names the place of
// what is wrong.
func ParseGiven(raw []byte) (Given, error) {
	var g Given
	if err := strictly(raw, &g); err != nil {
		return g, err
	}
	if !g.Now.IsZero() && !sane(g.Now) {
		return g, &Invalid{Path: ".now", Message: tooFar}
	}
	kinds := []flow.CallKind{"", flow.CallHTTP, flow.CallAssistant, flow.CallAgent, flow.CallExtract, flow.CallTool, flow.CallNode}
	for i, m := range g.Mocks {
		if !slices.Contains(kinds, m.Kind) {
			return g, &Invalid{Path: fmt.Sprintf(".mocks[%d].kind", i), Message: oneOf(kinds[1:])}
		}
	}
	return g, nil
}

// ParseSession reads a session that was somewhere else meanwhile. An
// [*Invalid] names what nothing can follow from.
func ParseSession(raw []byte) (*Session, error) {
	s := &Session{}
	if err := strictly(raw, s); err != nil {
		return nil, err
	}
	switch {
	case s.State == nil:
		return nil, &Invalid{Path: ".state", Message: "is required"}
	case !sane(s.Now):
		return nil, &Invalid{Path: ".now", Message: tooFar}
	case len(s.Timers) > maxTimers:
		return nil, &Invalid{Path: ".timers", Message: "are more than a run can have"}
	case !sane(s.Given.Now):
		return nil, &Invalid{Path: ".given.now", Message: tooFar}
	}
	return s, nil
}

// sane says whether a time leaves room for all durations behind it: RFC 3339
// ends with the year 9999.
func sane(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2500 }

const (
	notADuration = "must be an ISO 8601 duration, for example PT1H"
	tooFar       = "must be in the years 1970 to 2499"
)

func parseStep(raw []byte) (Step, error) {
	var s Step
	var members map[string]json.RawMessage
	if err := strictly(raw, &members); err != nil {
		return s, err
	}
	if err := strictly(raw, &s); err != nil {
		return s, err
	}
	if len(members) != 1 {
		return s, &Invalid{Path: "", Message: "must have one member: send, advance, event, handoff, approve, cancel or expect"}
	}
	switch {
	case s.Send != nil, s.Approve != nil, s.Cancel:
		return s, nil
	case s.Advance != "":
		if _, err := values.ParseDuration(s.Advance); err != nil {
			return s, &Invalid{Path: ".advance", Message: notADuration}
		}
		return s, nil
	case s.Event != nil:
		if s.Event.Name == "" {
			return s, &Invalid{Path: ".event.name", Message: "must not be empty"}
		}
		return s, nil
	case s.Handoff == "assigned", s.Handoff == "closed":
		return s, nil
	case s.Handoff != "":
		return s, &Invalid{Path: ".handoff", Message: oneOf([]string{"assigned", "closed"})}
	case s.Expect != nil:
		return s, at(".expect", s.Expect.check())
	}
	return s, &Invalid{Path: "", Message: "must have one event"}
}

// check refuses what no flow can fulfil.
func (e *Expect) check() error {
	dids := []string{"", DidSend, DidCall, DidContact, DidEvent, DidHandoff, DidEndHandoff, DidAsk, DidJump}
	waits := []flow.WaitKind{"", flow.WaitReply, flow.WaitTimer, flow.WaitEvent, flow.WaitHandoff, flow.WaitEffect, flow.WaitApproval}
	ends := []flow.Status{"", flow.StatusCompleted, flow.StatusCancelled, flow.StatusFailed}
	switch {
	case !slices.Contains(dids, e.Did):
		return &Invalid{Path: ".did", Message: oneOf(dids[1:])}
	case !slices.Contains(waits, e.Waits):
		return &Invalid{Path: ".waits", Message: oneOf(waits[1:])}
	case !slices.Contains(ends, e.Ended):
		return &Invalid{Path: ".ended", Message: oneOf(ends[1:])}
	}
	if _, _, err := pattern.Compile(e.Matches); err != nil {
		return &Invalid{Path: ".matches", Message: "must be a regular expression (RE2) that does not repeat too much"}
	}
	if !e.ofEffect() && !e.Rest && e.Waits == "" && e.Ended == "" && e.Error == "" && e.Output == nil && e.Vars == nil {
		return &Invalid{Path: "", Message: "must have an expectation"}
	}
	return nil
}

func oneOf[T ~string](names []T) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return "must be one of " + strings.Join(words, ", ")
}

// strictly decodes JSON without members that v does not have. Numbers stay as
// they are written.
func strictly(raw []byte, v any) error {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return &Invalid{Path: "", Message: "must not be null"}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			return &Invalid{Path: "", Message: "must be one JSON value"}
		}
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path := ""
		if wrong.Field != "" {
			path = "." + wrong.Field
		}
		return &Invalid{Path: path, Message: "must not be a JSON " + wrong.Value}
	}
	if name, is := strings.CutPrefix(err.Error(), "json: unknown field "); is {
		return &Invalid{Path: "." + strings.Trim(name, `"`), Message: "is unknown"}
	}
	return &Invalid{Path: "", Message: "has the wrong form"}
}
