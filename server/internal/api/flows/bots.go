package flows

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// Bots answers what concerns the bots of the flow editor.
type Bots struct {
	Bots      *botengine.Service
	Messaging *messaging.Service
}

// Register adds the operations of the resource.
func (a *Bots) Register(api *httpapi.API) {
	missing := []int{http.StatusNotFound}
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Botengine_Create", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/bot", Status: http.StatusCreated, Summary: "Create a bot",
		About: "It answers only after it is published. Without `flow`, its draft has only a trigger. If both are given, `trigger` replaces " +
			"the trigger of the flow. The draft may have errors: see `problems`.",
		MaxBody: documentBody, Errors: missing,
	}, auth.BotsManage, a.createBot)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Bots", On: httpapi.Listing("query.reference"), Method: http.MethodGet, Path: "/bot/list", Summary: "List bots, oldest first", Errors: missing,
	}, auth.BotsManage, a.listBots)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Botengine_Bot", On: httpapi.At("path.botId"), Method: http.MethodGet, Path: "/bot/{botId}", Summary: "Show a bot", Errors: missing,
	}, auth.BotsManage, a.showBot)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Botengine_Update", On: httpapi.At("path.botId"), Method: http.MethodPatch, Path: "/bot/{botId}", Summary: "Change a bot",
		About: "Changes the draft; the published version does not change. With `If-Match` = the bot's `ETag` (its revision), the change is refused " +
			"if the bot was changed since.",
		MaxBody: documentBody, Errors: []int{http.StatusNotFound, http.StatusPreconditionFailed},
	}, auth.BotsManage, a.updateBot)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Delete", On: httpapi.At("path.botId"), Method: http.MethodDelete, Path: "/bot/{botId}", Summary: "Delete a bot",
		About: "Ends its conversations.", Errors: missing,
	}, auth.BotsManage, a.deleteBot)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Botengine_Publish", On: httpapi.At("path.botId"), Method: http.MethodPost, Path: "/bot/{botId}/publish", Summary: "Publish the draft of a bot",
		About: "Saves the draft as a numbered version, which answers from now on. Conversations in progress continue with the version that they " +
			"started with. A draft with errors is refused with a list of them.",
		Errors: missing,
	}, auth.BotsManage, a.publishBot)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Validate", On: httpapi.At("path.botId"), Method: http.MethodPost, Path: "/bot/{botId}/validate", Summary: "Validate the draft of a bot", Errors: missing,
	}, auth.BotsManage, a.validateBot)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Versions", On: httpapi.At("path.botId"), Method: http.MethodGet, Path: "/bot/{botId}/versions", Summary: "List the published versions of a bot, oldest first", Errors: missing,
	}, auth.BotsManage, a.listBotVersions)
}

// documentBody bounds requests with a flow.
const documentBody = 2 << 20

type botID struct {
	ID string `path:"botId" maxLength:"64" doc:"Id of the bot."`
}

// botAction names a bot to do something with; it takes no body, or {}.
type botAction struct {
	ID   string    `path:"botId" maxLength:"64" doc:"Id of the bot."`
	Body *struct{} `json:"body,omitempty"`
}

// botView is a bot as it is shown.
type botView struct {
	ID        string               `json:"id"`
	Reference provider.ReferenceID `json:"reference"`
	Name      string               `json:"name"`
	Trigger   string               `json:"trigger" doc:"What starts the bot in its draft: the first of triggers."`
	Triggers  []string             `json:"triggers" nullable:"false"`
	Keywords  []string             `json:"keywords,omitempty" doc:"Keywords of the triggers keyword and regex."`
	Flow      view.Document        `json:"flow" doc:"The draft."`
	Problems  []flow.Problem       `json:"problems" nullable:"false" doc:"The problems of the draft."`
	Status    botengine.Status     `json:"status" enum:"draft,published"`
	Active    bool                 `json:"active" doc:"Whether the published version answers."`
	Version   int64                `json:"version" doc:"The published version; 0 if there is none."`
	Revision  int64                `json:"revision" doc:"Increases with every change. It is the ETag."`
	CreatedAt messaging.UnixTime   `json:"createdAt"`
	UpdatedAt messaging.UnixTime   `json:"updatedAt"`
}

func viewBot(b botengine.Bot) botView {
	return botView{
		ID: b.ID, Reference: provider.ReferenceID(b.Reference), Name: b.Name, Trigger: b.Trigger.First, Triggers: b.Trigger.All,
		Keywords: b.Trigger.Keywords, Flow: view.Document(b.Flow), Problems: b.Problems, Status: b.Status, Active: b.Active, Version: b.Version, Revision: b.Revision,
		CreatedAt: messaging.UnixTime{Time: b.CreatedAt}, UpdatedAt: messaging.UnixTime{Time: b.UpdatedAt},
	}
}

// botReply is a bot with its revision in a header.
type botReply struct {
	ETag string `header:"ETag" doc:"The revision of the object, for If-Match."`
	Body botView
}

func replyBot(b botengine.Bot, err error) (*botReply, error) {
	if err != nil {
		return nil, err
	}
	return &botReply{ETag: etagOf(b.Revision), Body: viewBot(b)}, nil
}

// etagOf is a revision as If-Match has it.
func etagOf(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// revisionOf is the revision that If-Match names; 0: any, -1: none of ours.
func revisionOf(match string) int64 {
	if match == "" || match == "*" {
		return 0
	}
	revision, err := strconv.ParseInt(strings.Trim(match, `"`), 10, 64)
	if err != nil || revision < 1 {
		return -1
	}
	return revision
}

type newBot struct {
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		Name      string               `json:"name" minLength:"1" maxLength:"200" example:"Greeter"`
		Trigger   string               `json:"trigger,omitempty" doc:"always, keyword, regex, first_message, button, referral, schedule or manual." example:"always"`
		Keywords  []string             `json:"keywords,omitempty" maxItems:"50" doc:"Keywords of the triggers keyword and regex."`
		Flow      view.Document        `json:"flow,omitempty"`
	}
}

func (a *Bots) createBot(ctx context.Context, c httpapi.Call, in *newBot) (*botReply, error) {
	b := in.Body
	if _, err := a.Messaging.For(c.Account).References().Get(ctx, b.Reference); errors.Is(err, messaging.ErrNotFound) {
		return nil, httpapi.NotFoundAt("body.reference", "must be the id of a reference of this account")
	} else if err != nil {
		return nil, err
	}
	return replyBot(a.Bots.For(c.Account).Bots().Create(ctx, botengine.NewBot{
		Reference: int64(b.Reference), Name: b.Name, Trigger: b.Trigger, Keywords: b.Keywords, Flow: json.RawMessage(b.Flow),
	}))
}

type botFilter struct {
	Reference provider.ReferenceID `query:"reference" minimum:"1" doc:"Only bots of this reference."`
	httpapi.PageInput
}

func (a *Bots) listBots(ctx context.Context, c httpapi.Call, in *botFilter) (view.Page[botView], error) {
	if in.Reference != 0 {
		if _, err := a.Messaging.For(c.Account).References().Get(ctx, in.Reference); err != nil {
			return view.Page[botView]{}, err
		}
	}
	p, err := a.Bots.For(c.Account).Bots().List(ctx, c.Among(int64(in.Reference)), in.List())
	return view.PageOf(p, viewBot), httpapi.InQuery(err)
}

func (a *Bots) showBot(ctx context.Context, c httpapi.Call, in *botID) (*botReply, error) {
	return replyBot(a.Bots.For(c.Account).Bots().Get(ctx, in.ID))
}

type botChange struct {
	ID      string `path:"botId" maxLength:"64" doc:"Id of the bot."`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"The ETag of the revision that you changed. The request is refused if the object has changed since."`
	Body    struct {
		Name     *string       `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Trigger  *string       `json:"trigger,omitempty" doc:"Replaces the trigger in the bot's draft."`
		Keywords []string      `json:"keywords,omitempty" maxItems:"50"`
		Flow     view.Document `json:"flow,omitempty"`
		Active   *bool         `json:"active,omitempty" doc:"Whether the bot starts conversations."`
	}
}

func (a *Bots) updateBot(ctx context.Context, c httpapi.Call, in *botChange) (*botReply, error) {
	b, err := a.Bots.For(c.Account).Bots().Update(ctx, in.ID, botengine.BotChange{
		Name: in.Body.Name, Trigger: in.Body.Trigger, Keywords: in.Body.Keywords, Flow: json.RawMessage(in.Body.Flow), Active: in.Body.Active,
		Revision: revisionOf(in.IfMatch),
	})
	return replyBot(b, err)
}

func (a *Bots) deleteBot(ctx context.Context, c httpapi.Call, in *botID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Bots.For(c.Account).Bots().Delete(ctx, in.ID)
}

func (a *Bots) publishBot(ctx context.Context, c httpapi.Call, in *botAction) (*botReply, error) {
	return replyBot(a.Bots.For(c.Account).Versions().Publish(ctx, in.ID))
}

type problemList struct {
	Problems []flow.Problem `json:"problems" nullable:"false" doc:"The problems, in the order of the nodes."`
}

func (a *Bots) validateBot(ctx context.Context, c httpapi.Call, in *botAction) (problemList, error) {
	ps, err := a.Bots.For(c.Account).Bots().Validate(ctx, in.ID)
	return problemList{ps}, err
}

type versionView struct {
	Version   int64              `json:"version"`
	Document  view.Document      `json:"document"`
	CreatedAt messaging.UnixTime `json:"createdAt"`
}

type botPage struct {
	ID string `path:"botId" maxLength:"64" doc:"Id of the bot."`
	httpapi.PageInput
}

func (a *Bots) listBotVersions(ctx context.Context, c httpapi.Call, in *botPage) (view.Page[versionView], error) {
	p, err := a.Bots.For(c.Account).Versions().List(ctx, in.ID, in.List())
	return view.PageOf(p, func(v botengine.Version) versionView {
		return versionView{v.Version, view.Document(v.Document), messaging.UnixTime{Time: v.CreatedAt}}
	}), httpapi.InQuery(err)
}

// unpublishable is the refusal of a document with errors, which is at
// location.
func unpublishable(location string, problems []flow.Problem) *httpapi.Problem {
	p := httpapi.NewProblem(httpapi.CodeValidation, "the draft has errors: correct those in errors")
	for _, wrong := range slices.DeleteFunc(slices.Clone(problems), func(p flow.Problem) bool { return p.Severity != flow.SeverityError }) {
		p.Errors = append(p.Errors, httpapi.FieldError{Location: location + wrong.Path, Message: wrong.Message, Code: wrong.Code, NodeID: wrong.NodeID})
	}
	return p
}
