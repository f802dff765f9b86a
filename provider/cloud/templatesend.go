package cloud

import (
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/template"
)

// TemplateMessage is an approved template with its parameters.
type TemplateMessage template.Message

func (t TemplateMessage) check(r *graph.Rules) { template.Message(t).Check(r) }
func (t TemplateMessage) into(e *envelope)     { e.Type, e.Template = "template", t }

// rawTemplate is a [TemplateMessage] whose components go out as they came,
// members that this version does not know included.
type rawTemplate struct{ call provider.TemplateCall }

func (t rawTemplate) check(r *graph.Rules) {
	template.CheckCall(r, t.call)
}

func (t rawTemplate) into(e *envelope) { e.Type, e.Template = "template", t.call }
