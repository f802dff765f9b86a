package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/provider"
)

// Steps of a message. There will be others.
const (
	StepReceived = timeline.StepReceived // the network told of it, at the time that it says
	StepStored   = timeline.StepStored
	StepAttempt  = timeline.StepAttempt // to hand it to the network: sent, failed, retried or unconfirmed
	StepStatus   = timeline.StepStatus
	StepFile     = timeline.StepFile     // waiting, kept or lost
	StepDeferred = timeline.StepDeferred // its events wait for a file

	StepExtracted = timeline.StepExtracted // values were found in it
	StepHandled   = timeline.StepHandled   // Options.OnMessage was called for it: failed, for good
)

// Step is something that became of a message. Members that a step does not have
// are zero.
type Step struct {
	At      time.Time
	Step    string // one of the Step constants, or another
	SaidAt  time.Time
	Status  string
	Outcome string
	Times   int       // of attempts that ended alike, the first at At
	Last    time.Time // the last of these
	Error   *Failure
	FileURL string
	Raw     json.RawMessage // what the network reported, where it is kept
}

// Explanation is how far a message has come, and how.
type Explanation struct {
	Message Message
	Steps   []Step // in the order of time
}

// Explain tells what became of a message.
func (a *Account) Explain(ctx context.Context, ref provider.ReferenceID, chatID, messageID string) (Explanation, error) {
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
	if err != nil {
		return Explanation{}, err
	}
	m, err := messageIn(ctx, a.s.db, c, text.Sanitize(messageID))
	if err != nil {
		return Explanation{}, err
	}
	steps, err := stepsOf(ctx, a.s.db, c, m)
	return Explanation{m.View(c), steps}, err
}

// stepsOf are the steps of a message, with those that it waits for.
func stepsOf(ctx context.Context, q database.Reader, c *store.Chat, m *store.Message) ([]Step, error) {
	out := recordedSteps(m)
	raw, err := rawOf(ctx, q, m)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Step == StepReceived {
			out[i].Raw = raw
		}
	}
	waits, err := waitsOf(ctx, q, c, m)
	if err != nil {
		return nil, err
	}
	out = append(out, waits...)
	slices.SortStableFunc(out, func(x, y Step) int { return x.At.Compare(y.At) })
	return out, nil
}

// recordedSteps are the steps that the row of a message has.
func recordedSteps(m *store.Message) []Step {
	at := database.Time(m.CreatedUS)
	out := []Step{{At: at, Step: StepStored}}
	if m.OwnID == "" {
		out = slices.Insert(out, 0, Step{At: at, Step: StepReceived, SaidAt: database.Time(m.AtUS)})
	}
	var body Body
	_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
	for _, t := range timeline.Of(m) {
		step := stepOf(&t)
		if t.Outcome == timeline.Kept {
			step.FileURL = body.FileURL
		}
		out = append(out, step)
	}
	return out
}

// stepOf is an entry of the timeline as users see it.
func stepOf(t *timeline.Entry) Step {
	out := Step{
		At: database.Time(t.AtUS), Step: t.Step, SaidAt: database.Time(t.SaidUS), Status: t.Status, Outcome: t.Outcome,
		Times: t.Times, Last: database.Time(t.LastUS),
	}
	if t.Code != "" {
		out.Error = &Failure{Code: t.Code, Message: t.Message, Advice: t.Advice}
	}
	return out
}

// rawOf is what the network reported of a message; nil when it is not kept. It is
// kept of messages that this version does not understand.
func rawOf(ctx context.Context, q database.Reader, m *store.Message) (json.RawMessage, error) {
	var body Body
	_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
	if body.Unsupported == nil {
		return nil, nil
	}
	var bodies []string
	err := q.SelectContext(ctx, &bodies, `SELECT body FROM messaging_raw WHERE reference = $1 AND kind = $2 AND raw_id = $3`,
		m.Reference, ingest.RawKind(body.Unsupported), m.ID)
	if err != nil {
		return nil, fmt.Errorf("reading what was reported of a message: %w", err)
	}
	if len(bodies) == 0 || !json.Valid([]byte(bodies[0])) {
		return nil, nil
	}
	return json.RawMessage(bodies[0]), nil
}

// waitsOf says what a message still waits for.
func waitsOf(ctx context.Context, q database.Reader, c *store.Chat, m *store.Message) ([]Step, error) {
	var at []int64
	err := q.SelectContext(ctx, &at, `SELECT created_us FROM messaging_media WHERE message = $1 AND message > 0 AND waiting`, m.Seq)
	if err != nil {
		return nil, fmt.Errorf("reading the file of a message: %w", err)
	}
	var out []Step
	for _, us := range at {
		out = append(out, Step{At: database.Time(us), Step: StepFile, Outcome: timeline.Waiting})
	}
	at = nil
	err = q.SelectContext(ctx, &at, `SELECT at_us FROM messaging_deferred WHERE chat = $1 AND message_id = $2 ORDER BY id LIMIT 1`, c.ID, m.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the events of a message: %w", err)
	}
	for _, us := range at {
		out = append(out, Step{At: database.Time(cmp.Or(us, m.CreatedUS)), Step: StepDeferred})
	}
	return out, nil
}
