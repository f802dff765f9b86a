package functions

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

func (s *service) refs(r *mcp.Registry) error {
	return errors.Join(
		add(r, mcp.Function[listReferences, referenceList]{
			Name: "list_references", Title: "List the references of the account", Permission: referencesRead, Listing: true, ReadOnly: true,
			Description: "Lists the references of the account: connected WhatsApp numbers, Messenger pages and simulated phones. Call it first: the id of a reference " +
				"is the argument reference of all other functions. Each has its name, type, state (CONNECTED: it works) and the types of messages that it can send. The oldest 1,000 are returned.",
			Handler: s.listReferences,
		}, nil),
		add(r, mcp.Function[referenceArgument, referenceStatus]{
			Name: "get_reference_status", Title: "Check whether a reference works", Permission: referencesRead, Reference: "reference", ReadOnly: true,
			Description: "Returns the state of the reference's connection: CONNECTED, or why it is not connected. Use it when sends are refused or stay PENDING. " +
				"connectedAt is in UNIX seconds, or 0 if it is not connected. lastError is empty if there is no error.",
			Handler: s.referenceStatus,
		}, nil),
		add(r, mcp.Function[listTemplates, templateList]{
			Name: "list_templates", Title: "List the message templates of a reference", Permission: chatsRead, Reference: "reference", ReadOnly: true,
			Description: "Lists the message templates of a WhatsApp Business number. If a contact has not written for 24 hours, only templates can be sent, and only APPROVED ones. " +
				"Each has its name, language, category, status and components. Other types of references answer unsupported. At most 1,000 are returned: use status to get fewer.",
			Handler: s.listTemplates,
		}, nil),
	)
}

// referenceArgument names a reference.
type referenceArgument struct {
	Reference provider.ReferenceID `json:"reference" minimum:"1" doc:"Id of the reference, as list_references returns it."`
}

type listReferences struct {
	Type string `json:"type,omitempty" maxLength:"64" doc:"Only references of this type, such as provider-cloud, provider-web, provider-messenger or provider-sandbox."`
}

type referenceList struct {
	References []referenceItem `json:"references" doc:"The references, oldest first."`
}

// referenceItem is what a caller needs to choose a reference.
type referenceItem struct {
	ID        provider.ReferenceID `json:"id" doc:"Id of the reference, for the argument reference of other functions."`
	Name      string               `json:"name" doc:"Name that its owner gave it."`
	Type      string               `json:"type" doc:"Type of the reference, such as provider-cloud."`
	State     string               `json:"state" doc:"State of the connection. CONNECTED: it works."`
	Send      []string             `json:"send" doc:"Types of messages that it sends unchanged."`
	Templates bool                 `json:"templates" doc:"Whether it has message templates."`
	Groups    bool                 `json:"groups" doc:"Whether it has groups."`
	CreatedAt int64                `json:"createdAt" doc:"UNIX seconds."`
}

// maxRows limits lists without pages.
const (
	maxRows = 1000
	page    = 200
)

func (s *service) listReferences(ctx context.Context, c mcp.Call, in listReferences) (referenceList, error) {
	refs, err := whole(func(l messaging.List) (messaging.Page[messaging.Reference], error) {
		return s.account(c).References().ListAmong(ctx, provider.Kind(in.Type), c.Only, l)
	})
	out := referenceList{make([]referenceItem, len(refs))}
	for i, ref := range refs {
		out.References[i] = referenceItem{
			ID: ref.ID, Name: ref.Name, Type: string(ref.Type), State: string(ref.Session.State), Send: ref.Capabilities.Send,
			Templates: ref.Capabilities.Templates, Groups: ref.Capabilities.Groups, CreatedAt: ref.CreatedAt.Unix(),
		}
	}
	return out, err
}

// whole returns a list of at most [maxRows] items.
func whole[T any](fetch func(messaging.List) (messaging.Page[T], error)) ([]T, error) {
	var out []T
	cursor := ""
	for {
		p, err := fetch(messaging.List{Limit: page, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		out = append(out, p.Items...)
		if p.Next == "" || len(out) >= maxRows {
			return out, nil
		}
		cursor = p.Next
	}
}

type referenceStatus struct {
	Reference   provider.ReferenceID `json:"reference" doc:"Id of the reference."`
	Name        string               `json:"name" doc:"Name that its owner gave it."`
	Type        string               `json:"type" doc:"Type of the reference, such as provider-cloud."`
	State       string               `json:"state" enum:"STOPPED,STARTING,PAIRING,CONNECTED,RECONNECTING,LOGGED_OUT,FAILED" doc:"State of the connection. CONNECTED: it works."`
	ConnectedAt int64                `json:"connectedAt" doc:"UNIX seconds; 0 if it is not connected."`
	LastError   string               `json:"lastError" doc:"The reason why it is not connected, as code: text; empty if there is no error."`
}

func (s *service) referenceStatus(ctx context.Context, c mcp.Call, in referenceArgument) (referenceStatus, error) {
	ref, err := s.account(c).References().Get(ctx, in.Reference)
	if err != nil {
		return referenceStatus{}, err
	}
	out := referenceStatus{Reference: ref.ID, Name: ref.Name, Type: string(ref.Type), State: string(ref.Session.State)}
	if at := ref.Session.ConnectedAt; at != nil {
		out.ConnectedAt = at.Unix()
	}
	if e := ref.Session.LastError; e != nil {
		out.LastError = e.Code + ": " + e.Message
	}
	return out, nil
}

type listTemplates struct {
	referenceArgument
	Status string `json:"status,omitempty" enum:"PENDING,APPROVED,REJECTED,DISABLED" doc:"Only templates with this status."`
}

type templateList struct {
	Templates []json.RawMessage `json:"templates" doc:"The templates."`
}

func (s *service) listTemplates(ctx context.Context, c mcp.Call, in listTemplates) (templateList, error) {
	all, err := whole(func(l messaging.List) (messaging.Page[messaging.Template], error) {
		return s.account(c).Templates().List(ctx, in.Reference, messaging.TemplateFilter{Status: in.Status}, l)
	})
	if err != nil {
		return templateList{}, err
	}
	items, err := objects(all)
	return templateList{items}, err
}
