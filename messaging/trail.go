package messaging

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// trace is a thing that became of a message. They are kept with its row.
type trace struct {
	AtUS    int64  `json:"at"`
	Step    string `json:"step"`
	Status  string `json:"status,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Advice  string `json:"advice,omitempty"`
	SaidUS  int64  `json:"said,omitempty"`  // when it happened, as the network says
	Times   int    `json:"times,omitempty"` // of repeats that were alike, with the first; 0: once
	LastUS  int64  `json:"last,omitempty"`  // the last of them
}

func (t *trace) fails(why Failure) { t.Code, t.Message, t.Advice = why.Code, why.Message, why.Advice }

// maxTrail is how many bytes of repeated attempts are kept with a message.
const maxTrail = 16 << 10

// trace notes what became of m, which is then written.
func (u *unit) trace(m *messageRow, t trace) {
	t.AtUS = database.Micros(u.now)
	m.trace(t)
	u.dirtyMessages.add(m)
}

func (m *messageRow) trace(t trace) {
	if t.Outcome == outcomeRetried && m.traceAgain(t) {
		return
	}
	entry := string(mustJSON(t))
	if m.Trail != "" {
		entry = m.Trail + "," + entry
	}
	m.Trail = entry
}

// traceAgain counts an attempt that ended as the one before, and drops one for
// which there is no room.
func (m *messageRow) traceAgain(t trace) bool {
	all := m.traces()
	if len(all) == 0 {
		return false
	}
	last := &all[len(all)-1]
	if last.Outcome != t.Outcome || last.Code != t.Code || last.Message != t.Message {
		return len(m.Trail) > maxTrail
	}
	last.Times, last.LastUS = max(last.Times, 1)+1, t.AtUS
	m.Trail = strings.Trim(string(mustJSON(all)), "[]")
	return true
}

func (m *messageRow) traces() []trace {
	var out []trace
	_ = json.Unmarshal([]byte("["+m.Trail+"]"), &out) // written by this package
	return out
}

// traceStatus notes that m has reached a status.
func (u *unit) traceStatus(m *messageRow, status provider.Status, why Failure) {
	t := trace{Step: StepStatus, Status: status.String(), SaidUS: database.Micros(u.saidAt)}
	if status == provider.StatusFail {
		t.fails(why)
	}
	u.trace(m, t)
}

// saying runs fn about something that the network says happened at a time.
func (u *unit) saying(at time.Time, fn func()) {
	u.saidAt = at
	fn()
	u.saidAt = time.Time{}
}

// Outcomes of attempts to send, and of files.
const (
	outcomeSent        = "sent"
	outcomeFailed      = "failed"
	outcomeUnconfirmed = "unconfirmed"
	outcomeRetried     = "retried"
	outcomeWaiting     = "waiting"
	outcomeKept        = "kept"
	outcomeLost        = "lost"
)

// traceAttempt notes how an attempt to send m ended.
func (u *unit) traceAttempt(m *messageRow, a attempt) {
	t := trace{Step: StepAttempt, Outcome: a.outcome()}
	switch {
	case a.failed != nil:
		t.fails(failureOf(*a.failed))
	case a.why != nil:
		t.fails(failureOf(*failure(a.why)))
	}
	u.trace(m, t)
}

// traceFile notes what became of the file of m; lost is why there is none.
func (u *unit) traceFile(m *messageRow, lost *Failure) {
	t := trace{Step: StepFile, Outcome: outcomeKept}
	if lost != nil {
		t.Outcome = outcomeLost
		t.fails(failureOf(provider.Failure(*lost)))
	}
	u.trace(m, t)
}
