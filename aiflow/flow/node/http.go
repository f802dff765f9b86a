package node

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// httpConfig calls an address of the world.
type httpConfig struct {
	Method      string               `json:"method" default:"GET" enum:"GET,POST,PUT,PATCH,DELETE,HEAD" doc:"Of the request."`
	URL         flow.Text            `json:"url" required:"true" min:"1" max:"2048" doc:"Of a public host; private addresses are refused."`
	Headers     map[string]flow.Text `json:"headers" max:"30" doc:"Besides those of the credential."`
	Query       map[string]flow.Text `json:"query" max:"50" doc:"Added to the address, escaped."`
	Auth        string               `json:"auth" max:"64" doc:"Id of a credential."`
	Body        *httpBody            `json:"body" doc:"What is sent; at most 256 KiB."`
	Timeout     time.Duration        `json:"timeout" default:"PT10S" min:"PT1S" max:"PT60S" doc:"Of each attempt."`
	Retry       flow.RetryConfig     `json:"retry" doc:"What happens after an attempt that failed for now."`
	Idempotency string               `json:"idempotency" default:"auto" enum:"auto,safe,once" doc:"safe: may be repeated after a crash; once: never is; auto: safe for GET, HEAD, PUT and DELETE."`
	MaxResponse flow.Bytes           `json:"maxResponse" default:"256KiB" max:"1MiB" doc:"More is the error http.too_large."`
	Success     string               `json:"success" default:"200-299" max:"100" doc:"Status codes that are no error: 200-299,404"`
	SaveTo      string               `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes {status, headers, body}."`
	Extract     []extractResponse    `json:"extract" max:"20" doc:"What of the response goes to variables."`
}

type httpBody struct {
	Kind  string    `json:"kind" default:"none" enum:"none,json,form,multipart,text" doc:"How it is written."`
	Value flow.Data `json:"value" doc:"json: any value; form and multipart: an object of fields; text: a text."`
}

type extractResponse struct {
	Var  string          `json:"var" required:"true" pattern:"path" writes:"true" doc:"Where it goes."`
	Path flow.Expression `json:"path" required:"true" scope:"response" doc:"Of response {status, headers, body}: response.body.items[0].id"`
}

func httpType() flow.NodeType {
	return flow.NodeType{
		Name: "http", Group: "data", Text: "Calls an HTTP address and reads the answer.",
		Outputs: []flow.Output{
			{Name: "out", Text: "a status code of success"},
			{Name: "status:<code or class>", Text: "that status, as status:404 or status:5xx (before out and error)"},
			{Name: "error", Text: "anything else"},
		},
		Effect: "http",
		Errors: []string{"http.timeout", "http.connect", "http.blocked_host", "http.status", "http.too_large", "http.bad_body", "effect.unknown"},
		Config: func() flow.Config { return &httpConfig{} },
	}
}

func (*httpConfig) Outputs() []string { return []string{"out", "error", "status:*"} }

var (
	statusRange = regexp.MustCompile(`^([1-5][0-9][0-9])(-([1-5][0-9][0-9]))?$`)
	statusClass = regexp.MustCompile(`^status:[1-5]([0-9][0-9]|xx)$`)
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// maxBody bounds a body that is a literal; others are measured when sent.
const maxBody = 256 << 10

func (h *httpConfig) Check(c *flow.Checker) {
	if url, constant := h.URL.Constant(); constant && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		c.Problem("http.url", "is no address of HTTP", "begin with https://", "url")
	}
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		if !headerName.MatchString(name) {
			c.Problem("http.header", "is no name of a header", "", "headers", name)
		}
	}
	if !isStatuses(h.Success) {
		c.Problem("http.success", "is no list of status codes", "as 200-299,404", "success")
	}
	for _, output := range c.Wired() {
		if strings.HasPrefix(output, "status:") && !statusClass.MatchString(output) {
			c.Next("graph.output", output, "is no status code or class", "as status:404 or status:5xx")
		}
	}
	for i, x := range h.Extract {
		c.Saves(x.Var, x.Path.Kind(), "extract", i, "var")
	}
	c.Saves(h.SaveTo, expression.Map, "saveTo")
	h.checkBody(c)
}

// isStatuses accepts a list of status codes and ranges of them.
func isStatuses(list string) bool {
	for part := range strings.SplitSeq(list, ",") {
		m := statusRange.FindStringSubmatch(strings.ReplaceAll(part, " ", ""))
		if m == nil || m[3] != "" && m[3] < m[1] {
			return false
		}
	}
	return true
}

func (h *httpConfig) checkBody(c *flow.Checker) {
	if h.Body == nil || h.Body.Kind == "none" {
		return
	}
	c.Need(h.Body.Value.Present(), "body", "value")
	if h.Method == "GET" || h.Method == "HEAD" {
		c.Warn("http.body", "a "+h.Method+" request is sent without its body", "", "body")
	}
	switch v := h.Body.Value.Source; {
	case v == nil:
	case (h.Body.Kind == "form" || h.Body.Kind == "multipart") && v.Kind != flow.KindObject && v.Kind != flow.KindString:
		c.Problem("http.body", "must be an object of fields", "", "body", "value")
	case len(v.Canonical()) > maxBody:
		c.Problem("shape.size", "has more than 256 KiB", "", "body", "value")
	}
}
