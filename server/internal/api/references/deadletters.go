package references

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// registerDeadLetters adds the operations on what could not be read.
func (a *API) registerDeadLetters(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_DeadLetters", On: httpapi.At("path.id"), Method: http.MethodGet, Path: "/reference/{id}/dead-letters",
		Summary: "List the items of callbacks that could not be read, newest first",
		About: "The rest of their callbacks was stored. A dead letter is kept until it is replayed or deleted, or as long as messages are kept. " +
			"Erasing a contact also deletes those that name the contact.",
		Errors: []int{http.StatusNotFound},
	}, auth.ChatsRead, a.listDeadLetters)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_DeadLetter", On: httpapi.At("path.id"), Method: http.MethodGet, Path: "/reference/{id}/dead-letters/{letterId}",
		Summary: "Show an item of a callback that could not be read, with its body",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsRead, a.getDeadLetter)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_ReplayDeadLetter", On: httpapi.At("path.id"), Method: http.MethodPost, Path: "/reference/{id}/dead-letters/{letterId}/replay",
		Summary: "Read an item of a callback again",
		About: "Use it after an upgrade that can read the item. If it succeeds, what the item reports is stored, as if it came now, and the dead letter is deleted. " +
			"Otherwise the dead letter remains, with the new reason.",
		Errors: []int{http.StatusNotFound},
	}, auth.ReferencesWrite, a.replayDeadLetter)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_ReplayDeadLetters", On: httpapi.At("path.id"), Method: http.MethodPost, Path: "/reference/{id}/dead-letters/replay",
		Summary: "Read the items of callbacks again that could not be read, oldest first",
		About:   "A request replays one page. Pass `next` as `cursor` until it is null.",
		Errors:  []int{http.StatusNotFound},
	}, auth.ReferencesWrite, a.replayDeadLetters)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_DeleteDeadLetter", On: httpapi.At("path.id"), Method: http.MethodDelete, Path: "/reference/{id}/dead-letters/{letterId}",
		Summary: "Delete an item of a callback that could not be read",
		Errors:  []int{http.StatusNotFound},
	}, auth.ReferencesWrite, a.deleteDeadLetter)
}

// deadLetter is an item of a callback that could not be read.
type deadLetter struct {
	ID         string              `json:"id"`
	Reason     string              `json:"reason" doc:"Why it could not be read, the last time." example:"a message without an id"`
	Size       int                 `json:"size" doc:"Characters of the body."`
	Replayable bool                `json:"replayable" doc:"false if it cannot be replayed: it came by no callback, makes no sense without its neighbours, or was stored by an older version."`
	Replays    int                 `json:"replays" doc:"Number of replays that failed."`
	ReplayedAt *messaging.UnixTime `json:"replayedAt" doc:"Time of the last replay; null if there was none."`
	ReceivedAt messaging.UnixTime  `json:"receivedAt"`
	Body       string              `json:"body,omitempty" doc:"What the network sent, usually JSON. Lists do not have it."`
}

func viewDeadLetter(d messaging.DeadLetter) deadLetter {
	return deadLetter{
		ID: d.ID, Reason: d.Reason, Size: d.Size, Replayable: d.Replayable, Replays: d.Replays,
		ReplayedAt: view.TimeOrNull(d.ReplayedAt), ReceivedAt: messaging.UnixTime{Time: d.ReceivedAt}, Body: d.Body,
	}
}

type deadLetterFilter struct {
	ID provider.ReferenceID `path:"id" minimum:"1" doc:"Id of the reference."`
	httpapi.PageInput
}

func (a *API) listDeadLetters(ctx context.Context, c httpapi.Call, in *deadLetterFilter) (view.Page[deadLetter], error) {
	p, err := a.Messaging.For(c.Account).DeadLetters().List(ctx, in.ID, in.List())
	return view.PageOf(p, viewDeadLetter), httpapi.InQuery(err)
}

type deadLetterID struct {
	ID       provider.ReferenceID `path:"id" minimum:"1" doc:"Id of the reference."`
	LetterID string               `path:"letterId" maxLength:"64" doc:"Id of the dead letter."`
}

func (a *API) getDeadLetter(ctx context.Context, c httpapi.Call, in *deadLetterID) (deadLetter, error) {
	d, err := a.Messaging.For(c.Account).DeadLetters().Get(ctx, in.ID, in.LetterID)
	return viewDeadLetter(d), err
}

type replayedDeadLetter struct {
	Replayed bool    `json:"replayed" doc:"true: it is stored, and the dead letter is deleted."`
	Reason   *string `json:"reason" doc:"Why it still cannot be read; null if replayed."`
}

func (a *API) replayDeadLetter(ctx context.Context, c httpapi.Call, in *deadLetterID) (replayedDeadLetter, error) {
	reason, err := a.Messaging.For(c.Account).DeadLetters().Replay(ctx, in.ID, in.LetterID)
	return replayedDeadLetter{Replayed: reason == "", Reason: view.OrNull(reason)}, err
}

type replayDeadLettersInput struct {
	ID   provider.ReferenceID `path:"id" minimum:"1" doc:"Id of the reference."`
	Body struct {
		Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"Number of dead letters to replay at most."`
		Cursor string `json:"cursor,omitempty" maxLength:"400" doc:"The next of the previous answer."`
	}
}

type replayedDeadLetters struct {
	Replayed int     `json:"replayed" doc:"Number of dead letters that are stored now."`
	Failed   int     `json:"failed" doc:"Number of dead letters that remain."`
	Next     *string `json:"next" doc:"Cursor of the next page; null if there is none."`
}

func (a *API) replayDeadLetters(ctx context.Context, c httpapi.Call, in *replayDeadLettersInput) (replayedDeadLetters, error) {
	out, err := a.Messaging.For(c.Account).DeadLetters().ReplayAll(ctx, in.ID, messaging.List{Limit: in.Body.Limit, Cursor: in.Body.Cursor})
	return replayedDeadLetters{Replayed: out.Replayed, Failed: out.Failed, Next: view.OrNull(out.Next)}, err
}

func (a *API) deleteDeadLetter(ctx context.Context, c httpapi.Call, in *deadLetterID) (httpapi.Done, error) {
	err := a.Messaging.For(c.Account).DeadLetters().Delete(ctx, in.ID, in.LetterID)
	return httpapi.Done{Success: err == nil}, err
}
