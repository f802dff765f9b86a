package extractors

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// extractorBody bounds requests with an extractor: intents may have many
// examples.
const extractorBody = store.MaxConfig

// API answers what concerns extractors.
type API struct {
	Bots       *botengine.Service
	Extractors *store.Service
	Flows      *aiflow.Service
	Messaging  *messaging.Service
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	missing := []int{http.StatusNotFound}
	httpapi.Register(api, httpapi.Operation{
		ID: "Extractor_Create", On: httpapi.At("body.scope.reference", "body.scope.bot", "body.scope.flow"), Method: http.MethodPost, Path: "/extractor", Status: http.StatusCreated, Summary: "Create an extractor",
		About: "It finds values in messages of contacts. Before a message goes to a bot or flow, it is read by all extractors of its reference, of the reference's bots and of " +
			"the flows that are bound to the reference. Values become variables of the chat and `extracted` of the message, and each extractor that found values sends " +
			"one `data` event. Intents are learned in the background (`training`); until then the previously learned intents are used.",
		MaxBody: extractorBody, Errors: missing,
	}, auth.ExtractorsManage, a.createExtractor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Extractor_Extractors", On: httpapi.Listing("query.reference", "query.bot", "query.flow"), Method: http.MethodGet, Path: "/extractor/list", Summary: "List extractors, oldest first", Errors: missing,
	}, auth.ExtractorsManage, a.listExtractors)
	httpapi.Register(api, httpapi.Operation{
		ID: "Extractor_Extractor", On: httpapi.At("path.extractorId"), Method: http.MethodGet, Path: "/extractor/{extractorId}", Summary: "Show an extractor", Errors: missing,
	}, auth.ExtractorsManage, a.showExtractor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Extractor_Update", On: httpapi.At("path.extractorId", "body.scope.reference", "body.scope.bot", "body.scope.flow"), Method: http.MethodPatch, Path: "/extractor/{extractorId}", Summary: "Change an extractor",
		About: "`config` is replaced completely.", MaxBody: extractorBody, Errors: missing,
	}, auth.ExtractorsManage, a.updateExtractor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Extractor_Delete", On: httpapi.At("path.extractorId"), Method: http.MethodDelete, Path: "/extractor/{extractorId}", Summary: "Delete an extractor", Errors: missing,
	}, auth.ExtractorsManage, a.deleteExtractor)
	a.registerTrials(api)
}

// extractorConfig is the config of an extractor. Package store says what is
// wrong with it.
type extractorConfig json.RawMessage

// MarshalJSON writes the config as it is.
func (d extractorConfig) MarshalJSON() ([]byte, error) { return d, nil }

// UnmarshalJSON takes anything.
func (d *extractorConfig) UnmarshalJSON(b []byte) error {
	*d = append((*d)[:0], b...)
	return nil
}

// Schema says what each kind has, which huma does not check.
func (extractorConfig) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "The form depends on the kind. regex: {pattern, flags?, groups?: {name: string|number|date|phone|email}}, RE2. entity: {types: [email, url, phone, number, " +
			"ordinal, money, percentage, date, time, duration, boolean, quantity, document, dictionary], locale?, region?, possiblePhones?, dictionary?: [{value, " +
			"synonyms?}]}. intent: {intents: [{name, examples}], threshold? (0.5), fallback?: {model}}. ai: {model, instructions?, schema, when?: always|missing}. " +
			"All accept tests: [{text, locale?, region?, now? (ISO 8601), values?}].",
		Extensions: map[string]any{"type": huma.TypeObject, "additionalProperties": true},
		Examples:   []any{map[string]any{"pattern": `#(?P<order>\d+)`, "groups": map[string]any{"order": "number"}}},
	}
}

// extractorScope says whose messages an extractor reads. It has one member.
type extractorScope struct {
	Reference provider.ReferenceID `json:"reference,omitempty" minimum:"1" doc:"Id of the reference. The extractor reads all of its messages." example:"1"`
	Bot       string               `json:"bot,omitempty" maxLength:"64" doc:"Id of the bot. The extractor reads the messages of the bot's reference."`
	Flow      string               `json:"flow,omitempty" maxLength:"64" doc:"Id of the flow. The extractor reads messages of the references that the flow is bound to, and of chats in which the flow has a run."`
}

// extractorView is an extractor as it is shown.
type extractorView struct {
	ID            string             `json:"id"`
	Name          string             `json:"name"`
	Kind          string             `json:"kind" enum:"regex,ai,intent,entity"`
	Scope         extractorScope     `json:"scope"`
	Config        extractorConfig    `json:"config"`
	Enabled       bool               `json:"enabled"`
	Training      *string            `json:"training" enum:"training,ready,failed" doc:"State of learning the intents of config; null if there is nothing to learn."`
	TrainingError *string            `json:"trainingError" doc:"The reason why learning failed."`
	CreatedAt     messaging.UnixTime `json:"createdAt"`
	UpdatedAt     messaging.UnixTime `json:"updatedAt"`
}

func viewExtractor(e store.Extractor) extractorView {
	v := extractorView{
		ID: e.ID, Name: e.Name, Kind: e.Kind, Config: extractorConfig(e.Config), Enabled: e.Enabled,
		CreatedAt: messaging.UnixTime{Time: e.CreatedAt}, UpdatedAt: messaging.UnixTime{Time: e.UpdatedAt},
		Scope: extractorScope{Bot: e.Scope.Bot, Flow: e.Scope.Flow},
	}
	if e.Scope.Bot == "" {
		v.Scope.Reference = provider.ReferenceID(e.Scope.Reference)
	}
	if e.Training != "" {
		v.Training = &e.Training
	}
	if e.TrainingError != "" {
		v.TrainingError = &e.TrainingError
	}
	return v
}

// scope finds what a scope names. at is where it stands.
func (a *API) scope(ctx context.Context, c httpapi.Call, in extractorScope, at string) (out store.Scope, err error) {
	named := 0
	if in.Reference != 0 {
		named++
		out.Reference = int64(in.Reference)
		_, err = a.Messaging.For(c.Account).References().Get(ctx, in.Reference)
		if errors.Is(err, messaging.ErrNotFound) {
			err = httpapi.NotFoundAt(at+"reference", "must be the id of a reference of this account")
		}
	}
	if in.Bot != "" && err == nil {
		named++
		var b botengine.Bot
		b, err = a.Bots.For(c.Account).Bots().Get(ctx, in.Bot)
		if errors.Is(err, botengine.ErrNotFound) {
			err = httpapi.NotFoundAt(at+"bot", "must be the id of a bot of this account")
		}
		out.Bot, out.Reference = in.Bot, b.Reference
	}
	if in.Flow != "" && err == nil {
		named++
		_, err = a.Flows.For(c.Account).Flows().Get(ctx, in.Flow)
		if errors.Is(err, aiflow.ErrNotFound) {
			err = httpapi.NotFoundAt(at+"flow", "must be the id of a flow of this account")
		}
		out.Flow = in.Flow
	}
	if err == nil && named > 1 {
		err = httpapi.Invalid(at[:len(at)-1], "is required, or bot, or flow: give exactly one of them")
	}
	return out, err
}

// extractorKind is the kind of a new extractor. Package store takes it in
// any letter case.
type extractorKind string

// Schema names the kinds in the document. huma does not check them: it knows no
// letter case.
func (extractorKind) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "Case-insensitive.", Examples: []any{store.Regex},
		Extensions: map[string]any{"enum": []any{store.Regex, store.AI, store.Intent, store.Entity}},
	}
}

type newExtractor struct {
	Body struct {
		Name    string          `json:"name" minLength:"1" maxLength:"200" example:"Order number"`
		Kind    extractorKind   `json:"kind"`
		Scope   extractorScope  `json:"scope"`
		Config  extractorConfig `json:"config"`
		Enabled *bool           `json:"enabled,omitempty" default:"true"`
	}
}

func (a *API) createExtractor(ctx context.Context, c httpapi.Call, in *newExtractor) (extractorView, error) {
	b := in.Body
	scope, err := a.scope(ctx, c, b.Scope, "body.scope.")
	if err != nil {
		return extractorView{}, err
	}
	e, err := a.Extractors.For(c.Account).Create(ctx, store.NewExtractor{
		Name: b.Name, Kind: string(b.Kind), Scope: scope, Config: json.RawMessage(b.Config), Disabled: b.Enabled != nil && !*b.Enabled,
	})
	return viewExtractor(e), err
}

type extractorFilter struct {
	Reference provider.ReferenceID `query:"reference" minimum:"1" doc:"Only extractors of this reference and its bots."`
	Bot       string               `query:"bot" maxLength:"64" doc:"Only extractors of this bot."`
	Flow      string               `query:"flow" maxLength:"64" doc:"Only extractors of this flow."`

	httpapi.PageInput
}

func (a *API) listExtractors(ctx context.Context, c httpapi.Call, in *extractorFilter) (view.Page[extractorView], error) {
	scope, err := a.scope(ctx, c, extractorScope{in.Reference, in.Bot, in.Flow}, "query.")
	if err != nil {
		return view.Page[extractorView]{}, err
	}
	p, err := a.Extractors.For(c.Account).Extractors(ctx, store.List{Limit: in.Limit, Cursor: in.Cursor, Scope: scope, Among: c.Only})
	return view.PageOf(p, viewExtractor), httpapi.InQuery(err)
}

type extractorID struct {
	ID string `path:"extractorId" maxLength:"64" doc:"Id of the extractor."`
}

func (a *API) showExtractor(ctx context.Context, c httpapi.Call, in *extractorID) (extractorView, error) {
	e, err := a.Extractors.For(c.Account).Extractor(ctx, in.ID)
	return viewExtractor(e), err
}

type extractorChange struct {
	ID   string `path:"extractorId" maxLength:"64" doc:"Id of the extractor."`
	Body struct {
		Name    *string         `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Scope   extractorScope  `json:"scope,omitzero"`
		Config  extractorConfig `json:"config,omitempty"`
		Enabled *bool           `json:"enabled,omitempty"`
	}
}

func (a *API) updateExtractor(ctx context.Context, c httpapi.Call, in *extractorChange) (extractorView, error) {
	change := store.Change{Name: in.Body.Name, Config: json.RawMessage(in.Body.Config), Enabled: in.Body.Enabled}
	if in.Body.Scope != (extractorScope{}) {
		scope, err := a.scope(ctx, c, in.Body.Scope, "body.scope.")
		if err != nil {
			return extractorView{}, err
		}
		change.Scope = &scope
	}
	e, err := a.Extractors.For(c.Account).Update(ctx, in.ID, change)
	return viewExtractor(e), err
}

func (a *API) deleteExtractor(ctx context.Context, c httpapi.Call, in *extractorID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Extractors.For(c.Account).Delete(ctx, in.ID)
}
