package extractors

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// registerTrials run extractors on texts.
func (a *API) registerTrials(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Extractor_Try", On: httpapi.At("path.extractorId", "body.reference"), Method: http.MethodPost, Path: "/extractor/{extractorId}/run", Summary: "Try an extractor on a text or a message",
		About: "Stores nothing and sends no event. Give either `text`, with what is known about its writer, or `reference`, `chatId` and `messageId`; the latter also needs the permission `chats.read`. " +
			"An extractor whose intents were never learned answers 409.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway, http.StatusServiceUnavailable},
	}, auth.ExtractorsManage, a.runExtractor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Extractor_Evaluate", On: httpapi.At("path.extractorId"), Method: http.MethodPost, Path: "/extractor/{extractorId}/evaluate", Summary: "Run the tests of an extractor",
		About:  "Returns how many of `config.tests` passed and which failed; for intents also which ones were mistaken for another (`nomatch`: nothing was found).",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway, http.StatusServiceUnavailable},
	}, auth.ExtractorsManage, a.evaluateExtractor)
}

// moment is a time in UNIX seconds, or in ISO 8601, which also has a zone.
type moment struct{ time.Time }

// UnmarshalJSON reads either form.
func (m *moment) UnmarshalJSON(b []byte) error {
	if s, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		m.Time = time.Unix(s, 0).UTC()
		return nil
	}
	return m.Time.UnmarshalJSON(b)
}

// Schema says so.
func (moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeInteger, Minimum: new(0.0), Maximum: new(253402300799.0), Description: "UNIX seconds."},
		{Type: huma.TypeString, Format: "date-time", Description: "ISO 8601, in the time zone of the writer."},
	}}
}

type extractorRun struct {
	ID   string `path:"extractorId" maxLength:"64" doc:"Id of the extractor."`
	Body struct {
		Text      *string              `json:"text,omitempty" maxLength:"65536" example:"where is order #17?"`
		Locale    string               `json:"locale,omitempty" maxLength:"35" doc:"Language of the text." example:"pt-BR"`
		Region    string               `json:"region,omitempty" maxLength:"35" doc:"Country of phone numbers without a country code." example:"BR"`
		Now       moment               `json:"now,omitzero" doc:"Time that relative dates start from. Default: the current time, or the time of the message."`
		Reference provider.ReferenceID `json:"reference,omitempty" minimum:"1" doc:"Reference of the message."`
		ChatID    string               `json:"chatId,omitempty" maxLength:"512" doc:"Chat of the message."`
		MessageID string               `json:"messageId,omitempty" maxLength:"512" doc:"Id of the message."`
	}
}

// matchView is a value that was found, and where.
type matchView struct {
	Name       string          `json:"name" example:"order"`
	Type       string          `json:"type" example:"number"`
	Value      json.RawMessage `json:"value" doc:"Any JSON value."`
	Text       string          `json:"text" doc:"The part of the text that has the value."`
	Start      int             `json:"start" doc:"Start of that part in the text, in bytes of UTF-8."`
	End        int             `json:"end" doc:"End of that part in the text, in bytes of UTF-8."`
	Confidence float64         `json:"confidence" minimum:"0" maximum:"1"`
}

// extractorUsage is what was asked of models.
type extractorUsage struct {
	Calls        int      `json:"calls"`
	Input        int64    `json:"inputTokens"`
	CachedInput  int64    `json:"cachedInputTokens"`
	Output       int64    `json:"outputTokens"`
	Reasoning    int64    `json:"reasoningTokens"`
	Cost         *float64 `json:"cost" doc:"In micro-USD; null if the price of a call is unknown."`
	UnpricedCall int      `json:"unpricedCalls"`
}

func viewExtractorUsage(u *store.Usage) *extractorUsage {
	if u == nil {
		return nil
	}
	v := &extractorUsage{
		Calls: u.Calls, Input: u.Tokens.Input, CachedInput: u.Tokens.CacheRead, Output: u.Tokens.Output, Reasoning: u.Tokens.Reasoning, UnpricedCall: u.Unpriced,
	}
	if u.Unpriced == 0 {
		v.Cost = new(float64(u.CostNano) / 1000)
	}
	return v
}

type extractorFound struct {
	Values     extractor.Values `json:"values" doc:"The first match of each name."`
	Matches    []matchView      `json:"matches" nullable:"false" doc:"All matches, in the order of the text."`
	Usage      *extractorUsage  `json:"usage" doc:"null if no model was asked."`
	DurationMS float64          `json:"durationMs" doc:"Milliseconds."`
}

func (a *API) runExtractor(ctx context.Context, c httpapi.Call, in *extractorRun) (extractorFound, error) {
	if _, err := a.Extractors.For(c.Account).Extractor(ctx, in.ID); err != nil {
		return extractorFound{}, err
	}
	m, err := a.triedMessage(ctx, c, in)
	if err != nil {
		return extractorFound{}, err
	}
	r, err := a.Extractors.For(c.Account).Try(ctx, in.ID, m)
	if err != nil {
		return extractorFound{}, view.ModelError(err)
	}
	out := extractorFound{
		Values: r.Values, Matches: make([]matchView, len(r.Matches)), Usage: viewExtractorUsage(r.Usage),
		DurationMS: math.Round(float64(r.Duration.Microseconds())) / 1000,
	}
	for i, m := range r.Matches {
		value, err := json.Marshal(m.Value)
		if err != nil {
			return extractorFound{}, err
		}
		out.Matches[i] = matchView{m.Name, m.Type, value, m.Text, m.Start, m.End, m.Confidence}
	}
	return out, nil
}

// triedMessage is what an extractor is to be run on.
func (a *API) triedMessage(ctx context.Context, c httpapi.Call, in *extractorRun) (store.Message, error) {
	b := in.Body
	if b.Text != nil {
		if b.Reference != 0 || b.ChatID != "" || b.MessageID != "" {
			return store.Message{}, httpapi.Invalid("body.text", "cannot be combined with reference, chatId and messageId")
		}
		return store.Message{Said: store.Said{Text: *b.Text, Locale: b.Locale, Region: b.Region, Now: b.Now.Time}}, nil
	}
	for _, need := range []struct {
		name string
		is   bool
	}{{"reference", b.Reference != 0}, {"chatId", b.ChatID != ""}, {"messageId", b.MessageID != ""}} {
		if !need.is {
			return store.Message{}, httpapi.Invalid("body."+need.name, "is required without text")
		}
	}
	reader, err := c.With(auth.ChatsRead)
	if err != nil {
		return store.Message{}, err
	}
	b.Reference = provider.ReferenceID(reader.Within(int64(b.Reference)))
	m, err := a.Messaging.For(c.Account).Message(ctx, b.Reference, b.ChatID, b.MessageID)
	if err != nil {
		return store.Message{}, err
	}
	chat, err := a.Messaging.For(c.Account).Chat(ctx, b.Reference, b.ChatID)
	if err != nil {
		return store.Message{}, err
	}
	said := view.SaidBy(chat, m.Text, m.MessageTimestamp.Time)
	said.Text = cmp.Or(said.Text, m.Caption)
	said.Locale, said.Region = b.Locale, b.Region
	if !b.Now.IsZero() {
		said.Now = b.Now.Time
	}
	return store.Message{Said: said, Reference: int64(b.Reference), ChatID: chat.ID}, nil
}

// extractorAction names an extractor to do something with; it takes no body, or
// {}.
type extractorAction struct {
	ID   string    `path:"extractorId" maxLength:"64" doc:"Id of the extractor."`
	Body *struct{} `json:"body,omitempty"`
}

type missView struct {
	Test   int              `json:"test" doc:"Index of the test, from 0."`
	Text   string           `json:"text"`
	Wanted extractor.Values `json:"wanted"`
	Found  extractor.Values `json:"found"`
}

type confusionView struct {
	Intent  string `json:"intent" doc:"The expected intent; nomatch: none."`
	Taken   string `json:"taken" doc:"The intent that was found; nomatch: none."`
	Times   int    `json:"times"`
	Example string `json:"example" doc:"Text of one of these tests."`
}

type evaluationView struct {
	Tests    int             `json:"tests"`
	Right    int             `json:"right"`
	Accuracy *float64        `json:"accuracy" doc:"Share of tests that passed, from 0 to 1; null if there are no tests."`
	Failures []missView      `json:"failures" nullable:"false"`
	Confused []confusionView `json:"confused" nullable:"false" doc:"Intents that were mistaken for another, most frequent first."`
}

func (a *API) evaluateExtractor(ctx context.Context, c httpapi.Call, in *extractorAction) (evaluationView, error) {
	e, err := a.Extractors.For(c.Account).Evaluate(ctx, in.ID)
	if err != nil {
		return evaluationView{}, view.ModelError(err)
	}
	out := evaluationView{Tests: e.Tests, Right: e.Right, Failures: []missView{}, Confused: []confusionView{}}
	if e.Tests > 0 {
		out.Accuracy = new(float64(e.Right) / float64(e.Tests))
	}
	for _, f := range e.Failures {
		out.Failures = append(out.Failures, missView{f.Test, f.Text, f.Wanted, f.Found})
	}
	for _, f := range e.Confused {
		out.Confused = append(out.Confused, confusionView{f.Intent, f.Taken, f.Times, f.Example})
	}
	return out, nil
}
