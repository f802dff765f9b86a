package openapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// numbers says of numbers that mean the same wherever they stand what they are,
// by their name, or by their schema and name.
var numbers = map[string]string{
	"reference":         "Id of the reference.",
	"calls":             "Number of calls of language models.",
	"inputTokens":       "Number of input tokens.",
	"cachedInputTokens": "Number of input tokens that the provider read from its cache.",
	"outputTokens":      "Number of output tokens, including reasoning.",
	"reasoningTokens":   "Number of output tokens for reasoning.",
	"unpricedCalls":     "Number of calls without a known price.",
	"errors":            "Number of failed calls.",
	"version":           "Number of the published version, from 1.",
	"revision":          "Number of changes of the draft.",
	"priority":          "Priority. The one with the highest number is asked first.",
	"latitude":          "Degrees. Positive north of the equator.",
	"longitude":         "Degrees. Positive east of Greenwich.",
	"pageCount":         "Number of pages of the document.",
	"unread":            "Number of unread messages.",
	"botActive":         "1: bots may answer; 0: they may not.",
	"statusCode":        "HTTP status of the response.",
	"attempt":           "Number of the attempt, from 1.",
	"confidence":        "From 0 to 1.",
	"quantity":          "Quantity of the item.",
	"price":             "Price of one item, in units of the currency.",
	"limit":             "Maximum number of items.",

	"MessagingReference.id":   "Id of the reference.",
	"AccountUsage.references": "Number of references of the account.", "AccountUsage.users": "Number of users of the account.",
	"QuotaState.used":      "The used amount.",
	"ConfusionView.times":  "Number of tests with this confusion.",
	"EvaluationView.right": "Number of tests that passed.", "EvaluationView.tests": "Number of tests.",
	"FlowLimits.bytes": "Maximum size of a document, in bytes.", "FlowLimits.uiBytes": "Maximum size of the editor's own data, in bytes.",
	"FlowLimits.functions": "Maximum number of functions that a flow can contain.", "FlowLimits.nodes": "Maximum number of nodes of a document.",
	"FlowLimits.variables": "Maximum number of variables of a document.",
	"FlowProblem.at":       "Start of the problem in the expression or template at `path`, in bytes from 0.",
	"FunctionList.count":   "Number of functions in the list.",
	"McpArgument.maximum":  "Maximum value.", "McpArgument.minimum": "Minimum value.",
	"McpArgument.maxLength": "Maximum number of characters.", "McpArgument.minLength": "Minimum number of characters.",
	"PathChange.at":      "Index among the steps of the run, from 0.",
	"PriceSource.models": "Number of models with a price.",
	"Repriced.changed":   "Number of calls whose cost, or cost status, has changed.",
}

// parameters says what a parameter is whose field does not.
var parameters = map[string]string{
	"endpointId":                             "Id of the webhook.",
	"Aiflow_Runs.status":                     "Only runs in this state.",
	"Usage_Detail.provider":                  "Only calls of this provider.",
	"Usage_Rollup.provider":                  "Only calls of this provider.",
	"Billing_Receive.Stripe-Signature":       "Stripe's signature of the body.",
	"Webhooks_Deliveries.state":              "Only deliveries in this state.",
	"Messaging_Templates.status":             "Only templates with this status.",
	"Messaging_DeleteTemplate.name":          "Name of the template.",
	"Messaging_Handshake.hub.mode":           "subscribe.",
	"Messaging_Handshake.hub.verify_token":   "Verify token of a reference.",
	"Messaging_Handshake.hub.challenge":      "The challenge to return.",
	"Messaging_Callback.X-Hub-Signature-256": "Signature of the body: sha256= and an HMAC with the app secret of a reference.",
}

// noTimes are named like times.
var noTimes = []string{"FlowProblem.at", "PathChange.at", "MessageChange.at"}

// showUnits says of every number what it counts, of times and durations in
// which unit they are, and of every parameter what it is.
func showUnits(doc *huma.OpenAPI) {
	for name, s := range doc.Components.Schemas.Map() {
		for member, p := range s.Properties {
			addUnit(name+"."+member, member, p)
		}
	}
	for op := range httpapi.Operations(doc) {
		for _, p := range op.Parameters {
			describeParameter(op.OperationID+"."+p.Name, p)
		}
	}
}

func describeParameter(place string, p *huma.Param) {
	if p.Schema == nil {
		return
	}
	if p.Schema.Type == huma.TypeArray && p.In == "query" {
		p.Style = "form"
	}
	addUnit(place, p.Name, p.Schema)
	for _, text := range []string{p.Schema.Description, parameters[place], parameters[p.Name]} {
		p.Description = cmp.Or(p.Description, text)
	}
}

func addUnit(place, name string, s *huma.Schema) {
	if s.Type != huma.TypeInteger && s.Type != huma.TypeNumber {
		return
	}
	if s.Description == "" {
		s.Description = numbers[place]
	}
	if s.Description == "" {
		s.Description = numbers[name]
	}
	if u := unit(name); u != "" && !slices.Contains(noTimes, place) && !strings.Contains(s.Description, strings.Fields(u)[0]) {
		s.Description = strings.TrimSpace(s.Description + " " + u)
	}
}

// unit is that of a time or a duration; "": it is neither.
func unit(name string) string {
	switch {
	case strings.HasSuffix(name, "Ms"):
		return "Milliseconds."
	case strings.HasSuffix(name, "At"), strings.HasSuffix(strings.ToLower(name), "timestamp"),
		slices.Contains([]string{"at", "since", "earliest", "firstSeen", "lastSeen"}, name):
		return "UNIX seconds."
	}
	return ""
}
