package functions

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// API answers what concerns the functions that agents call.
// An embedder may replace the registry of its server at any time.
type API struct {
	MCP func() *mcp.Registry
}

// Register adds the operations of the resource, for clients that do not speak
// the protocol.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "MCP_Functions", Method: http.MethodGet, Path: "/service-mcp/functions", Summary: "List the functions that agents may call",
		About: "Lists all functions, regardless of the caller's permissions. A call needs `mcp.execute` and the function's own permission. " +
			"`version` is the version of the catalogue: a patch version changes texts, a minor version adds something, a major version changes or removes something.",
	}, auth.MCPExecute, a.listFunctions)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "MCP_Execute", Method: http.MethodPost, Path: "/service-mcp/execute", Summary: "Call a function",
		About: "Arguments are validated, rate limits apply, and every call is in the audit log. A failed call answers with the status of its error and the same members. " +
			"With `dryRun`, the server makes all checks and the function describes what it would do: `result` is `{dryRun: true, plan}`.",
		Errors: outcomeStatuses,
	}, auth.MCPExecute, a.execute)
	httpapi.Register(api, httpapi.Operation{
		ID: "MCP_Batch", Method: http.MethodPost, Path: "/service-mcp/batch", Summary: "Call up to 50 functions in parallel",
		About: "Returns the results in the order of the calls. Each call succeeds or fails independently, and counts against the limits.",
	}, auth.MCPExecute, a.executeBatch)
	a.auditRoutes(api)
}

// functionList is the catalogue of functions.
type functionList struct {
	Version   string           `json:"version" doc:"Version of the catalogue, as a semantic version."`
	Count     int              `json:"count"`
	Functions []mcp.Descriptor `json:"functions" nullable:"false"`
}

func (a *API) listFunctions(context.Context, httpapi.Call, *struct{}) (functionList, error) {
	fs := a.MCP().Functions()
	return functionList{a.MCP().Version(), len(fs), fs}, nil
}

// functionCall is a call of a function.
type functionCall struct {
	Function  string    `json:"function" minLength:"1" maxLength:"200" example:"list_references"`
	Arguments arguments `json:"arguments,omitempty"`
	DryRun    bool      `json:"dryRun,omitempty" doc:"Whether to only describe what the call would do."`
}

func (c functionCall) request() mcp.Request {
	return mcp.Request{Function: c.Function, Arguments: json.RawMessage(c.Arguments), DryRun: c.DryRun}
}

// arguments of a function. What is wrong with them says the registry.
type arguments json.RawMessage

// UnmarshalJSON takes anything.
func (a *arguments) UnmarshalJSON(b []byte) error {
	*a = append((*a)[:0], b...)
	return nil
}

// Schema says that they are an object, which huma does not check.
func (arguments) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "Arguments by name. Default: none.",
		Extensions:  map[string]any{"type": huma.TypeObject, "additionalProperties": true},
	}
}

// outcomeReply is what became of a call, with the status that it has in HTTP.
type outcomeReply struct {
	Status     int
	RetryAfter string `header:"Retry-After" doc:"Seconds after which you can try again."`
	Body       mcp.Outcome
}

func (a *API) execute(ctx context.Context, c httpapi.Call, in *struct{ Body functionCall }) (*outcomeReply, error) {
	out := a.MCP().Execute(ctx, CallerOf(c.Caller), in.Body.request())
	r := &outcomeReply{Status: out.Status(), Body: out}
	if out.Error != nil && out.Error.RetryAfter > 0 {
		r.RetryAfter = strconv.Itoa(httpapi.WholeSeconds(out.Error.RetryAfter))
	}
	return r, nil
}

type batchInput struct {
	Body struct {
		Calls []functionCall `json:"calls" nullable:"false" minItems:"1" maxItems:"50"`
	}
}

type batchResult struct {
	Results []mcp.Outcome `json:"results" nullable:"false" doc:"Result of each call, in the order of the calls."`
}

func (a *API) executeBatch(ctx context.Context, c httpapi.Call, in *batchInput) (batchResult, error) {
	calls := make([]mcp.Request, len(in.Body.Calls))
	for i, fc := range in.Body.Calls {
		calls[i] = fc.request()
	}
	results, failed := a.MCP().Batch(ctx, CallerOf(c.Caller), calls)
	if failed != nil {
		return batchResult{}, failed
	}
	return batchResult{results}, nil
}

// outcomeStatuses are those of calls that fail.
var outcomeStatuses = []int{
	http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// DescribeOutcomes shows that a call which fails answers in the shape of one
// that succeeds; a problem is answered to what is no call.
func DescribeOutcomes(doc *huma.OpenAPI) {
	outcome := &huma.MediaType{Schema: doc.Components.Schemas.Schema(reflect.TypeFor[mcp.Outcome](), true, "")}
	responses := doc.Paths["/service-mcp/execute"].Post.Responses
	for _, status := range outcomeStatuses {
		responses[strconv.Itoa(status)].Content["application/json"] = outcome
	}
}
