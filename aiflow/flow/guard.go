package flow

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Limits of a turn: it commits and goes on in another.
const (
	limitTurnSteps    = 250
	limitTurnEffects  = 50
	limitTurnMessages = 20
	limitTurnBytes    = 16 << 20 // that its expressions make
	limitTurnWork     = 32 << 20 // bytes of variables that it writes and counts

	stepEffects = 6 // at most, of one node
)

// Limits of a run: it fails, and no error output takes that.
const (
	limitRunSteps    = 100_000
	limitRunTurns    = 1000
	limitRunFrames   = 16
	limitRunLife     = 100 * 24 * time.Hour
	limitRunTimeouts = 5  // in a row, without input from outside
	limitRunSame     = 20 // messages of one content
	sameWithin       = 5 * time.Minute

	keepSaid   = 64 // contents that are counted at a time
	keepRecent = 12 // nodes that a state remembers
)

// Codes of runs that reached a limit.
const (
	codeRunSteps    = "run.steps"
	codeRunTurns    = "run.turns"
	codeRunFrames   = "run.frames"
	codeRunLife     = "run.life"
	codeRunTimeouts = "run.timeouts"
	codeRunSame     = "run.same_message"
)

// limitError is an error that ends the run.
type limitError struct{ why *Error }

func (e *limitError) Error() string { return e.why.Error() }

// overLimit returns the error of a run that reached a limit.
func overLimit(code, format string, args ...any) *limitError {
	return &limitError{&Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// overBudget reports whether others should have their turns first.
func (r runner) overBudget() bool {
	return len(r.Trace) >= limitTurnSteps || len(r.Effects) > limitTurnEffects-stepEffects || r.messages >= limitTurnMessages ||
		r.work > limitTurnWork || r.budget.Steps < limitTurnSteps*expression.MaxSteps || r.budget.Bytes < limitTurnBytes
}

// budget is what the expressions of one turn may spend: twice its share, so
// that the node which takes the turn over its share ends well.
func budget() *expression.Budget {
	return &expression.Budget{Steps: 2 * limitTurnSteps * expression.MaxSteps, Bytes: 2 * limitTurnBytes}
}

// lifetimeLimit is the limit that a run reached before this turn, if any.
func (r runner) lifetimeLimit() *limitError {
	switch s := r.State; {
	case s.Turns > limitRunTurns:
		return overLimit(codeRunTurns, "the run took more than %d turns%s", limitRunTurns, repeated(r.recent))
	case !r.World.Run.StartedAt.IsZero() && r.World.Now.Sub(r.World.Run.StartedAt) > limitRunLife:
		return overLimit(codeRunLife, "the run is more than 100 days old")
	}
	return nil
}

// stepLimit is the limit of steps, once it is reached.
func (r runner) stepLimit() *limitError {
	if r.State.Steps < limitRunSteps {
		return nil
	}
	return overLimit(codeRunSteps, "the run took more than %d steps%s", limitRunSteps, repeated(r.recent))
}

// TimedOut leaves a node through its timeout output. A run that nobody
// answers again and again ends.
func (t *Turn) TimedOut() (Exit, error) {
	if t.State.Timeouts++; t.State.Timeouts > limitRunTimeouts {
		return Exit{}, overLimit(codeRunTimeouts, "nobody answered %d times in a row%s", t.State.Timeouts, repeated(t.recent))
	}
	return Out("timeout"), nil
}

// say counts a content that is sent.
func (t *Turn) say(content []byte) error {
	h := fnv.New32a()
	_, _ = h.Write(content)
	sum, now := h.Sum32(), t.World.Now.Unix()
	s := t.State
	s.Said = slices.DeleteFunc(s.Said, func(said Said) bool { return now-said.Since >= int64(sameWithin/time.Second) })
	for i := range s.Said {
		if s.Said[i].Sum != sum {
			continue
		}
		if s.Said[i].Count++; s.Said[i].Count > limitRunSame {
			return overLimit(codeRunSame, "the same message was sent more than %d times in five minutes%s", limitRunSame, repeated(t.recent))
		}
		return nil
	}
	if len(s.Said) == keepSaid {
		s.Said = s.Said[1:]
	}
	s.Said = append(s.Said, Said{sum, 1, now})
	return nil
}

// repeated names the path that the nodes entered last went round and round,
// as the end of a sentence.
func repeated(recent []string) string {
	for n := 1; n <= len(recent)/2; n++ {
		last, before := recent[len(recent)-n:], recent[len(recent)-2*n:len(recent)-n]
		if slices.Equal(last, before) {
			return ", again and again: " + strings.Join(append(rotated(last), rotated(last)[0]), " → ")
		}
	}
	if n := len(recent); n > keepRecent {
		recent = recent[n-keepRecent:]
	}
	if len(recent) == 0 {
		return ""
	}
	return ", at last: " + strings.Join(recent, " → ")
}

// rotated begins a circle with its first node by name, so that it reads the
// same wherever it was cut.
func rotated(circle []string) []string {
	i := slices.Index(circle, slices.Min(circle))
	return append(slices.Clone(circle[i:]), circle[:i]...)
}
