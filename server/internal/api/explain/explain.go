package explain

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// API tells what became of messages.
type API struct {
	Messaging *messaging.Service
	Runs      *runtime.Runtime
	Webhooks  *webhook.Dispatcher
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Explain", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/chats/explain",
		Summary: "Explain step by step how a message was processed",
		About: "Steps are `received` (from the network; with its report, if that is stored), `stored`, `attempt` (to send it to the network), `status`, " +
			"`file`, `held` (its events wait for a file), `extracted` (extractors found values), `routed` (to a bot or a flow, with the reason), `run` (the run that took or sent the message), " +
			"`sent` (other messages that the run sent) and `webhook` (an attempt to deliver an event). More kinds may be added.",
		Errors: []int{http.StatusNotFound},
	}, auth.ChatsRead, a.explain)
}

type messageQuery struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	ChatID    string               `query:"chatId" required:"true" minLength:"1" maxLength:"512" doc:"Any id of the chat, current or former." example:"ana@sandbox"`
	MessageID string               `query:"messageId" required:"true" minLength:"1" maxLength:"512" doc:"Any of the message's ids."`
}

// explanation is the timeline of a message.
type explanation struct {
	Message messaging.Message `json:"message"`
	Steps   []explained       `json:"steps" nullable:"false" doc:"The steps, in order of time."`
}

// explained is a step. Which members it has depends on what it is.
type explained struct {
	At      messaging.UnixTime  `json:"at"`
	AfterMS int64               `json:"afterMs" doc:"Milliseconds since the first step."`
	Step    string              `json:"step" doc:"The kind of step. More kinds may be added." example:"attempt"`
	SaidAt  *messaging.UnixTime `json:"saidAt,omitempty" doc:"Time of the event according to the network."`
	Status  string              `json:"status,omitempty"`
	Outcome string              `json:"outcome,omitempty" doc:"Result of the step. attempt: sent, failed, retried or unconfirmed; file: waiting, kept or lost; webhook: pending, delivered, retried, failed or dead; routed: continued (a run waited for the message), begun (a run started), queued (behind an earlier run), silent (bots are off in the chat), nobody (no trigger matched) or failed."`
	Times   int                 `json:"times,omitempty" doc:"Number of consecutive attempts with this outcome."`
	LastAt  *messaging.UnixTime `json:"lastAt,omitempty" doc:"Time of the last of these attempts."`
	Error   *messaging.Failure  `json:"error,omitempty"`
	FileURL string              `json:"fileUrl,omitempty"`
	Raw     json.RawMessage     `json:"raw,omitempty" doc:"The network's report."`

	Values extractor.Values `json:"values,omitempty" doc:"Values that extractors found, by name."`

	EndpointID    string              `json:"endpointId,omitempty"`
	DeliveryID    string              `json:"deliveryId,omitempty"`
	Event         string              `json:"event,omitempty" example:"message"`
	StatusCode    *int                `json:"statusCode,omitempty"`
	DurationMS    *int64              `json:"durationMs,omitempty"`
	NextAttemptAt *messaging.UnixTime `json:"nextAttemptAt,omitempty"`

	Asked     []explainedAsked `json:"asked,omitempty" doc:"Bots and flows of the reference, in the order in which they were asked."`
	RunID     string           `json:"runId,omitempty"`
	Engine    string           `json:"engine,omitempty" doc:"Engine of the run: botengine or aiflow."`
	FlowID    string           `json:"flowId,omitempty" doc:"Id of the run's flow or bot."`
	Version   int64            `json:"version,omitempty" doc:"Version that the run uses."`
	MessageID string           `json:"messageId,omitempty" doc:"Id of the message that the run sent."`
}

func (a *API) explain(ctx context.Context, c httpapi.Call, in *messageQuery) (explanation, error) {
	acc := a.Messaging.For(c.Account)
	x, err := acc.Explain(ctx, in.Reference, in.ChatID, in.MessageID)
	if err != nil {
		return explanation{}, httpapi.InQuery(err)
	}
	out := explanation{Message: x.Message, Steps: []explained{}}
	for _, step := range x.Steps {
		out.Steps = append(out.Steps, explainedOf(step))
		if step.Step == messaging.StepExtracted {
			out.Steps[len(out.Steps)-1].Values = x.Message.Extracted
		}
	}
	ids, err := acc.MessageIDs(ctx, in.Reference, x.Message.ID)
	if err != nil {
		return explanation{}, err
	}
	p, err := a.Webhooks.For(c.Account).Deliveries(ctx, webhook.DeliveryFilter{Scope: view.WebhookScope(in.Reference), MessageIDs: ids, Limit: 200})
	if err != nil {
		return explanation{}, err
	}
	for _, d := range p.Items {
		out.Steps = append(out.Steps, delivered(d)...)
	}
	routed, err := a.routed(ctx, c, in.Reference, x.Message, ids)
	if err != nil {
		return explanation{}, err
	}
	out.Steps = append(out.Steps, routed...)
	out.order()
	return out, nil
}

// order sorts the steps, and says how far they are from the first.
func (x *explanation) order() {
	slices.SortStableFunc(x.Steps, func(a, b explained) int { return a.At.Compare(b.At.Time) })
	for i := range x.Steps {
		x.Steps[i].AfterMS = x.Steps[i].At.Sub(x.Steps[0].At.Time).Milliseconds()
	}
}

func explainedOf(s messaging.Step) explained {
	return explained{
		At: messaging.UnixTime{Time: s.At}, Step: s.Step, SaidAt: view.TimeOrNull(s.SaidAt), Status: s.Status, Outcome: s.Outcome,
		Times: s.Times, LastAt: view.TimeOrNull(s.Last), Error: s.Error, FileURL: s.FileURL, Raw: s.Raw,
	}
}

// delivered are the steps of a delivery: its attempts, and what it waits for.
func delivered(d webhook.Delivery) []explained {
	of := explained{Step: "webhook", EndpointID: d.EndpointID, DeliveryID: d.ID, Event: d.Event}
	var out []explained
	for i, a := range d.Attempts {
		step := of
		step.At, step.Outcome = messaging.UnixTime{Time: a.At}, "retried"
		step.StatusCode, step.DurationMS = view.StatusOrNull(a), new(a.Duration.Milliseconds())
		if i == len(d.Attempts)-1 && d.State != webhook.DeliveryPending {
			step.Outcome = d.State
		}
		if a.Error != "" {
			step.Error = &messaging.Failure{Code: "webhook", Message: a.Error}
		}
		out = append(out, step)
	}
	if d.State == webhook.DeliveryPending {
		of.At, of.Outcome, of.NextAttemptAt = messaging.UnixTime{Time: d.CreatedAt}, d.State, view.TimeOrNull(d.NextAttemptAt)
		if n := len(out); n > 0 {
			of.At = out[n-1].At
		}
		out = append(out, of)
	}
	return out
}
