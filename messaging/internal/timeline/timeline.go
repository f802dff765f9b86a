package timeline

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Entry is a thing that became of a message. They are kept with its row.
type Entry struct {
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

// Fail notes why the step failed.
func (t *Entry) Fail(why payload.Failure) {
	t.Code, t.Message, t.Advice = why.Code, why.Message, why.Advice
}

// maxTimelineBytes is how many bytes of repeated attempts are kept with a message.
const maxTimelineBytes = 16 << 10

// RecordStep notes what became of m, which is then written.
func RecordStep(u *store.Batch, m *store.Message, t Entry) {
	t.AtUS = database.Micros(u.Now)
	addStep(m, t)
	u.DirtyMessages.Add(m)
}

func addStep(m *store.Message, t Entry) {
	if t.Outcome == Retried && repeatStep(m, t) {
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
func repeatStep(m *store.Message, t Entry) bool {
	all := Of(m)
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

// Of reads the entries of a message.
func Of(m *store.Message) []Entry {
	var out []Entry
	_ = json.Unmarshal([]byte("["+m.Timeline+"]"), &out) // written by this package
	return out
}

// RecordStatus notes that m has reached a status.
func RecordStatus(u *store.Batch, m *store.Message, status provider.Status, why payload.Failure) {
	t := Entry{Step: StepStatus, Status: status.String(), SaidUS: database.Micros(u.NetworkAt)}
	if status == provider.StatusFail {
		t.Fail(why)
	}
	RecordStep(u, m, t)
}

// AtNetworkTime runs fn about something that the network says happened at a time.
func AtNetworkTime(u *store.Batch, at time.Time, fn func()) {
	u.NetworkAt = at
	fn()
	u.NetworkAt = time.Time{}
}

// Outcomes of attempts to send, and of files.
const (
	Sent        = "sent"
	Failed      = "failed"
	Unconfirmed = "unconfirmed"
	Retried     = "retried"
	Waiting     = "waiting"
	Kept        = "kept"
	Lost        = "lost"
)

// RecordAttempt notes how an attempt to send m ended; why is nil when nothing
// failed.
func RecordAttempt(u *store.Batch, m *store.Message, outcome string, why *provider.Failure) {
	t := Entry{Step: StepAttempt, Outcome: outcome}
	if why != nil {
		t.Fail(store.FailureOf(*why))
	}
	RecordStep(u, m, t)
}

// RecordFile notes what became of the file of m; lost is why there is none.
func RecordFile(u *store.Batch, m *store.Message, lost *payload.Failure) {
	t := Entry{Step: StepFile, Outcome: Kept}
	if lost != nil {
		t.Outcome = Lost
		t.Fail(store.FailureOf(provider.Failure(*lost)))
	}
	RecordStep(u, m, t)
}
