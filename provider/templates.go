package provider

import (
	"context"
	"encoding/json"
)

// TemplateManager is a Session whose network approves message templates
// before they can be sent. A template is known by its name and language
// together.
type TemplateManager interface {
	// CreateTemplate hands a template in for approval. What breaks a rule of
	// the network is an [*Invalid].
	CreateTemplate(ctx context.Context, t TemplateDefinition) (TemplateInfo, error)
	// Templates returns a page of all templates and the cursor of the next;
	// "" is that of the first, and is returned with the last.
	Templates(ctx context.Context, cursor string) (page []TemplateInfo, next string, err error)
	// DeleteTemplate deletes a template in one language; "": in all.
	DeleteTemplate(ctx context.Context, name, language string) error
}

// TemplateReviewer is a Provider whose network has templates and keeps no list
// of them: the messaging service keeps them, per reference. It takes the place of a
// [TemplateManager].
type TemplateReviewer interface {
	// ReviewTemplate decides on a template at once, without I/O. What breaks a
	// rule is an [*Invalid].
	ReviewTemplate(t TemplateDefinition) (TemplateInfo, error)
}

// TemplateDefinition is a template as it is handed in.
type TemplateDefinition struct {
	Name            string
	Category        string            // "MARKETING", "UTILITY", "AUTHENTICATION"
	Language        string            // "en_US"
	ParameterFormat string            // "positional", "named" or "": the network's default
	Components      []json.RawMessage // as the network takes them
}

// TemplateInfo is a template as the network has it.
type TemplateInfo struct {
	TemplateDefinition
	ID             string
	Status         TemplateStatus
	ProviderStatus string // the network's own word
	Reason         string // why it was rejected, or ""
	Quality        string // "GREEN", "YELLOW", "RED", "UNKNOWN" or ""
}

// TemplateStatus is whether a template can be sent.
type TemplateStatus string

// The statuses of templates.
const (
	TemplatePending  TemplateStatus = "PENDING"
	TemplateApproved TemplateStatus = "APPROVED"
	TemplateRejected TemplateStatus = "REJECTED"
	TemplateDisabled TemplateStatus = "DISABLED"
)

// TemplateStatusOf reads the network's word for a status or for a change of
// it. What is unknown cannot be sent.
func TemplateStatusOf(word string) TemplateStatus {
	switch word {
	case "PENDING", "IN_APPEAL":
		return TemplatePending
	case "APPROVED", "REINSTATED", "UNARCHIVED", "UNLOCKED", "FLAGGED":
		return TemplateApproved
	case "REJECTED":
		return TemplateRejected
	default: // DISABLED, PAUSED, LIMIT_EXCEEDED, LOCKED, ARCHIVED, PENDING_DELETION, DELETED …
		return TemplateDisabled
	}
}
