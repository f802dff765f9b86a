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
	"reference":         "Id of the line.",
	"calls":             "Calls of language models.",
	"inputTokens":       "Tokens of what was asked.",
	"cachedInputTokens": "Tokens of what was asked that the provider had in its cache.",
	"outputTokens":      "Tokens of what was answered, reasoning among them.",
	"reasoningTokens":   "Tokens of what was answered that are reasoning.",
	"unpricedCalls":     "Calls whose price is not known.",
	"errors":            "Calls that failed.",
	"version":           "Counts what is published, from 1.",
	"revision":          "Counts the changes of the draft.",
	"priority":          "Whoever has the higher one is asked first.",
	"latitude":          "Degrees, north of the equator positive.",
	"longitude":         "Degrees, east of Greenwich positive.",
	"pageCount":         "Pages of the document.",
	"unread":            "Messages that nobody has read.",
	"botActive":         "1: bots may answer; 0: they may not.",
	"statusCode":        "The HTTP status of the answer.",
	"attempt":           "Counts the attempts, from 1.",
	"confidence":        "From 0 to 1.",
	"quantity":          "How many of it.",
	"price":             "Of one, in units of the currency.",
	"limit":             "How many items at most.",

	"MessagingReference.id":   "Id of the line.",
	"AccountUsage.references": "Lines of the account.", "AccountUsage.users": "Users of the account.",
	"QuotaState.used":      "How much of it is used.",
	"ConfusionView.times":  "Tests of which this is so.",
	"EvaluationView.right": "Tests that found what they should.", "EvaluationView.tests": "Tests that were run.",
	"FlowLimits.bytes": "Bytes of a document.", "FlowLimits.uiBytes": "Bytes of the editor's own data.",
	"FlowLimits.functions": "Functions that a flow may come with.", "FlowLimits.nodes": "Nodes of a document.",
	"FlowLimits.variables": "Variables of a document.",
	"FlowProblem.at":       "Byte at which it begins in the expression or template at `path`, from 0.",
	"FunctionList.count":   "Functions in the list.",
	"McpArgument.maximum":  "The largest value.", "McpArgument.minimum": "The smallest value.",
	"McpArgument.maxLength": "The most characters.", "McpArgument.minLength": "The fewest characters.",
	"PathChange.at":      "Its place among the steps of the run, from 0.",
	"PriceSource.models": "Models with a price.",
	"Repriced.changed":   "Calls whose cost, or the reason for it, is another than before.",
}

// parameters says what a parameter is whose field does not.
var parameters = map[string]string{
	"endpointId":                             "Id of the webhook.",
	"Aiflow_Runs.status":                     "Only runs in this state.",
	"Usage_Detail.provider":                  "Only calls of this provider.",
	"Usage_Rollup.provider":                  "Only calls of this provider.",
	"Billing_Receive.Stripe-Signature":       "How Stripe signs the body.",
	"Webhooks_Deliveries.state":              "Only deliveries in this state.",
	"Messaging_Templates.status":             "Only templates with this status.",
	"Messaging_DeleteTemplate.name":          "Name of the template.",
	"Messaging_Handshake.hub.mode":           "subscribe.",
	"Messaging_Handshake.hub.verify_token":   "The verify token of a line.",
	"Messaging_Handshake.hub.challenge":      "What is to be answered.",
	"Messaging_Callback.X-Hub-Signature-256": "How the network signs the body: sha256= and an HMAC with the app secret of a line.",
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
