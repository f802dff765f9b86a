package agent

import (
	"bytes"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// pending returns the places of the calls of a turn that are not done.
func (j *journal) pending(turn int) (out []int) {
	for i := range j.entries[turn].answer.Message.Calls {
		if e := j.callOf(turn, i); e == nil || e.DoneUS == 0 {
			out = append(out, i)
		}
	}
	return out
}

// callOf is the entry of the i-th call of a turn; nil: there is none yet. There
// are servers that give several calls one id: their entries come in the order
// of the calls.
func (j *journal) callOf(turn, i int) *entry {
	all := j.entries[turn].answer.Message.Calls
	skip := 0
	for _, c := range all[:i] {
		if c.ID == all[i].ID && c.Name == all[i].Name {
			skip++
		}
	}
	for _, e := range j.entries[turn+1:] {
		if e.Kind == kindTurn && e.Status == statusDone {
			break
		}
		if e.Kind != kindTool || e.asked.CallID != all[i].ID || e.asked.Name != all[i].Name {
			continue
		}
		if skip == 0 {
			return e
		}
		skip--
	}
	return nil
}

// made counts the calls that were made, and how many of them were the same.
func (j *journal) made(a toolAsked) (made, same int) {
	for _, e := range j.entries {
		if e.Kind != kindTool || e.StartedUS == 0 || e.came.refusal() {
			continue
		}
		made++
		if e.asked.Name == a.Name && bytes.Equal(e.asked.Arguments, a.Arguments) {
			same++
		}
	}
	return made, same
}

// failures says why no more calls are made, if calls have failed too often.
func (j *journal) failures() Stop {
	row, wrong := 0, map[string]int{}
	for _, e := range j.entries {
		if e.Kind != kindTool || e.DoneUS == 0 {
			continue
		}
		if e.came.Code == codeMaxCalls {
			return StopMaxCalls
		}
		row++
		if !e.came.IsError {
			row = 0
		}
		wrong[e.asked.Name]++
		if !e.asked.Invalid {
			wrong[e.asked.Name] = 0
		}
		if row >= maxFailed || wrong[e.asked.Name] >= maxInvalid {
			return StopToolFailures
		}
	}
	return ""
}

// repairs counts how often the model was told that its answer is wrong.
func (j *journal) repairs() (n int) {
	for _, e := range j.entries {
		if e.Kind == kindInput && e.said.Repair {
			n++
		}
	}
	return n
}

// turns counts the answers of the model.
func (j *journal) turns() (n int) {
	for _, e := range j.entries {
		if e.Kind == kindTurn && e.Status == statusDone {
			n++
		}
	}
	return n
}

// used is how many tokens were used. Of an attempt of which it is not known what it
// took, it is the most that it can have been.
func (j *journal) used() (n int64) {
	for _, e := range j.entries {
		if e.Kind != kindTurn {
			continue
		}
		a := e.answer
		switch {
		case a != nil && a.Usage.Known:
			n += a.Usage.Input + a.Usage.Output
		case a == nil || a.Error == "" || mayHaveCost(a.Error):
			n += e.wanted.Reserve
		}
	}
	return n
}

// lastAnswer is the newest turn that was done; nil: there is none.
func (j *journal) lastAnswer() *entry {
	for _, e := range slices.Backward(j.entries) {
		if e.Kind == kindTurn && e.Status == statusDone {
			return e
		}
	}
	return nil
}

// reserve is the most that a request is expected to take of the token budget.
// What stood before the last answer was counted then; of what is new, two bytes
// are a token.
func (j *journal) reserve(r *llm.Request) int64 {
	out := int64(r.MaxTokens)
	worst := 2 * r.Estimate()
	last := j.lastAnswer()
	if last == nil || !last.answer.Usage.Known {
		return worst + out
	}
	fresh := last.answer.Usage.Input + last.answer.Usage.Output
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == llm.RoleAssistant {
			break
		}
		fresh += 2 * m.Estimate()
	}
	return min(worst, fresh) + out
}

// worked is how long the session has worked; time in which no process worked on
// it does not count.
func (j *journal) worked(attempt int, toolTimeout time.Duration) time.Duration {
	var sum, until int64
	for _, e := range j.entries { // they are in the order of their beginnings
		if e.Status == statusFailed && attempt > 1 {
			sum, until = 0, e.DoneUS // it is retried by hand: its time begins again
		}
		if e.StartedUS == 0 || e.DoneUS <= until || e.Kind == kindTurn && e.Status == statusUnknown {
			continue
		}
		limit := toolTimeout
		if e.Kind == kindTurn {
			limit = modelTimeout
		}
		sum += min(e.DoneUS-max(e.StartedUS, until), limit.Microseconds())
		until = e.DoneUS
	}
	return time.Duration(sum) * time.Microsecond
}

// denied reports whether a person has refused a call on this leg.
func (j *journal) denied() bool {
	return slices.ContainsFunc(j.entries, func(e *entry) bool { return e.Status == statusDenied && e.Leg == j.leg })
}

// usage is what the leg used of model.
func (j *journal) usage(model string) *flow.ModelUsage {
	u := &flow.ModelUsage{Model: model}
	var cost int64
	known := true
	for _, e := range j.entries {
		if e.Kind != kindTurn || e.Leg != j.leg {
			continue
		}
		u.Calls++
		a := e.answer
		if a == nil || a.Cost == nil {
			known = false
		} else {
			cost += *a.Cost
		}
		if a != nil {
			u.InputTokens += a.Usage.Input
			u.OutputTokens += a.Usage.Output
		}
		if a != nil && a.Model != "" {
			u.Model = a.Provider + "/" + a.Model
		}
	}
	if known {
		u.Cost = &cost
	}
	return u
}

// mayHaveCost reports whether an attempt that failed with a code may have used
// tokens although the answer does not say so.
func mayHaveCost(c llm.Code) bool {
	return c == llm.CodeTimeout || c == llm.CodeTruncated || c == llm.CodeMalformed
}
