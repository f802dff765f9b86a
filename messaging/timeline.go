package messaging

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// timelineEntry is a thing that became of a message. They are kept with its row.
type timelineEntry struct {
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

func (t *timelineEntry) fails(why Failure) {
	t.Code, t.Message, t.Advice = why.Code, why.Message, why.Advice
}

// maxTimelineBytes is how many bytes of repeated attempts are kept with a message.
const maxTimelineBytes = 16 << 10

// recordStep notes what became of m, which is then written.
func recordStep(u *store.Batch, m *store.Message, t timelineEntry) {
	t.AtUS = database.Micros(u.Now)
	addStep(m, t)
	u.DirtyMessages.Add(m)
}

func addStep(m *store.Message, t timelineEntry) {
	if t.Outcome == outcomeRetried && repeatStep(m, t) {
		return
	}
	entry := string(payload.MustEncode(t))
	if m.Timeline != "" {
		entry = m.Timeline + "," + entry
	}
	m.Timeline = entry
}

// repeatStep counts an attempt that ended as the one before, and drops one for
// which there is no room.
func repeatStep(m *store.Message, t timelineEntry) bool {
	all := timeline(m)
	if len(all) == 0 {
		return false
	}
	last := &all[len(all)-1]
	if last.Outcome != t.Outcome || last.Code != t.Code || last.Message != t.Message {
		return len(m.Timeline) > maxTimelineBytes
	}
	last.Times, last.LastUS = max(last.Times, 1)+1, t.AtUS
	m.Timeline = strings.Trim(string(payload.MustEncode(all)), "[]")
	return true
}

func timeline(m *store.Message) []timelineEntry {
	var out []timelineEntry
	_ = json.Unmarshal([]byte("["+m.Timeline+"]"), &out) // written by this package
	return out
}

// recordStatus notes that m has reached a status.
func recordStatus(u *store.Batch, m *store.Message, status provider.Status, why Failure) {
	t := timelineEntry{Step: StepStatus, Status: status.String(), SaidUS: database.Micros(u.NetworkAt)}
	if status == provider.StatusFail {
		t.fails(why)
	}
	recordStep(u, m, t)
}

// atNetworkTime runs fn about something that the network says happened at a time.
func atNetworkTime(u *store.Batch, at time.Time, fn func()) {
	u.NetworkAt = at
	fn()
	u.NetworkAt = time.Time{}
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

// recordAttempt notes how an attempt to send m ended.
func recordAttempt(u *store.Batch, m *store.Message, a attempt) {
	t := timelineEntry{Step: StepAttempt, Outcome: a.outcome()}
	switch {
	case a.failed != nil:
		t.fails(store.FailureOf(*a.failed))
	case a.why != nil:
		t.fails(store.FailureOf(*failure(a.why)))
	}
	recordStep(u, m, t)
}

// recordFile notes what became of the file of m; lost is why there is none.
func recordFile(u *store.Batch, m *store.Message, lost *Failure) {
	t := timelineEntry{Step: StepFile, Outcome: outcomeKept}
	if lost != nil {
		t.Outcome = outcomeLost
		t.fails(store.FailureOf(provider.Failure(*lost)))
	}
	recordStep(u, m, t)
}
