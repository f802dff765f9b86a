package sandbox

import (
	"strings"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/template"
)

// reviews are the decisions on templates with certain prefixes of their names,
// so that their consequences can be tested. Other templates are approved.
var reviews = []struct{ prefix, status, reason string }{
	{"rejected_", "REJECTED", "INVALID_FORMAT"},
	{"pending_", "PENDING", ""},
	{"paused_", "PAUSED", ""},
}

// ReviewTemplate checks a template against the rules of the WhatsApp Business
// platform and approves it. A name that starts with "rejected_" is rejected,
// "pending_" stays pending, and "paused_" is paused.
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

// Validate checks a template message against the same rules. The messaging
// service stores the templates, and checks that the template exists and that
// the parameters fit.
func (*Provider) Validate(c provider.Content) error {
	if t, is := c.(provider.Template); is {
		return template.Validate(t.Template)
	}
	return nil
}
