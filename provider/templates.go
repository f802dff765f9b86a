package provider

import (
	"context"
	"encoding/json"
)

// TemplateManager is a Session whose network approves message templates before
// they can be sent. Name and language together identify a template.
type TemplateManager interface {
	// CreateTemplate submits a template for approval. It returns an [*Invalid]
	// if the template breaks a rule of the network.
	CreateTemplate(ctx context.Context, t TemplateDefinition) (TemplateInfo, error)
	// Templates returns a page of all templates and the cursor of the next
	// page. "" is the cursor of the first page, and is returned with the last.
	Templates(ctx context.Context, cursor string) (page []TemplateInfo, next string, err error)
	// DeleteTemplate deletes a template in one language; "": in all.
	DeleteTemplate(ctx context.Context, name, language string) error
}

// TemplateReviewer is a Provider whose network has templates but does not store
// them. The messaging service stores them for each reference. It replaces a
// [TemplateManager].
type TemplateReviewer interface {
	// ReviewTemplate approves or rejects a template at once, without I/O. It
	// returns an [*Invalid] if the template breaks a rule.
	ReviewTemplate(t TemplateDefinition) (TemplateInfo, error)
}

// TemplateDefinition is a template to submit.
type TemplateDefinition struct {
	Name            string
	Category        string            // "MARKETING", "UTILITY", "AUTHENTICATION"
	Language        string            // "en_US"
	ParameterFormat string            // "positional", "named" or "": the network's default
	Components      []json.RawMessage // as the network defines them
}

// TemplateInfo is a template as the network has it.
type TemplateInfo struct {
	TemplateDefinition
	ID             string
	Status         TemplateStatus
	ProviderStatus string // the network's status
	Reason         string // why it was rejected, or ""
	Quality        string // "GREEN", "YELLOW", "RED", "UNKNOWN" or ""
}

// TemplateStatus says whether a template can be sent.
type TemplateStatus string

// The statuses of templates.
const (
	TemplatePending  TemplateStatus = "PENDING"
	TemplateApproved TemplateStatus = "APPROVED"
	TemplateRejected TemplateStatus = "REJECTED"
	TemplateDisabled TemplateStatus = "DISABLED"
)

// TemplateStatusOf returns the status for a network's status or change. A
// template of an unknown status cannot be sent.
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
