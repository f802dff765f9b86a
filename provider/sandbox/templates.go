package sandbox

import (
	"strings"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/template"
)

// reviews are the decisions on templates whose names begin in a certain way,
// so that what follows from them can be tried. All others are approved.
var reviews = []struct{ prefix, status, reason string }{
	{"rejected_", "REJECTED", "INVALID_FORMAT"},
	{"pending_", "PENDING", ""},
	{"paused_", "PAUSED", ""},
}

// ReviewTemplate holds a template against the rules of the WhatsApp Business
// platform and approves it. One whose name begins with "rejected_" is
// rejected, with "pending_" it waits forever, with "paused_" it is paused.
func (*Provider) ReviewTemplate(t provider.TemplateDefinition) (provider.TemplateInfo, error) {
	if err := template.Check(t); err != nil {
		return provider.TemplateInfo{}, err
	}
	status, reason := "APPROVED", ""
	for _, r := range reviews {
		if strings.HasPrefix(t.Name, r.prefix) {
			status, reason = r.status, r.reason
		}
	}
	return provider.TemplateInfo{
		TemplateDefinition: t, ID: "sandbox-" + uuid.Must(uuid.NewV7()).String(),
		Status: provider.TemplateStatusOf(status), ProviderStatus: status, Reason: reason,
	}, nil
}

// Validate holds a template message against the same rules. Whether there is
// such a template, and whether its parameters fit, is for the messaging
// service: it keeps the templates.
func (*Provider) Validate(c provider.Content) error {
	if t, is := c.(provider.Template); is {
		return template.Validate(t.Template)
	}
	return nil
}
