package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// httpConfig is the configuration of a node that makes an HTTP request.
type httpConfig struct {
	Method      string               `json:"method" default:"GET" enum:"GET,POST,PUT,PATCH,DELETE,HEAD" doc:"HTTP method of the request."`
	URL         flow.Text            `json:"url" required:"true" min:"1" max:"2048" doc:"URL of the request. A private address must be allowed by the server."`
	Headers     map[string]flow.Text `json:"headers" max:"30" doc:"Headers in addition to those of the credential."`
	Query       map[string]flow.Text `json:"query" max:"50" doc:"Parameters to add to the URL. They are escaped."`
	Auth        string               `json:"auth" max:"64" doc:"Id of the credential to send."`
	Body        *httpBody            `json:"body" doc:"Body of the request, of at most 256 KiB."`
	Timeout     time.Duration        `json:"timeout" default:"PT10S" min:"PT1S" max:"PT60S" doc:"Maximum duration of each attempt."`
	Retry       flow.RetryConfig     `json:"retry" doc:"How to retry after a temporary error."`
	Idempotency string               `json:"idempotency" default:"auto" enum:"auto,safe,once" doc:"safe: may be repeated after a crash; once: is never repeated; auto: safe for GET, HEAD, PUT and DELETE."`
	MaxResponse flow.Bytes           `json:"maxResponse" default:"256KiB" max:"1MiB" doc:"Maximum size of the response. A larger one is the error http.too_large."`
	Success     string               `json:"success" default:"200-299" max:"100" doc:"Status codes of success, for example 200-299,404. Others are the error http.status."`
	SaveTo      string               `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which {status, headers, body} is stored."`
	Extract     []extractResponse    `json:"extract" max:"20" doc:"Parts of the response to store in variables."`
}

type httpBody struct {
	Kind  string    `json:"kind" default:"none" enum:"none,json,form,multipart,text" doc:"Format of the body."`
	Value flow.Data `json:"value" doc:"json: any value; form and multipart: an object of fields; text: a text."`
}

type extractResponse struct {
	Var  string          `json:"var" required:"true" pattern:"path" writes:"true" doc:"Name of the variable, or a path in it."`
	Path flow.Expression `json:"path" required:"true" scope:"response" doc:"Path in the response {status, headers, body}: response.body.items[0].id"`
}

func httpType() flow.NodeType {
	return flow.NodeType{
		Name: "http", Group: "data", Text: "Sends an HTTP request and reads the response.",
		Outputs: []flow.Output{
			{Name: "out", Text: "the status code is one of success"},
			{Name: "status:<code or class>", Text: "the response has that status, for example status:404 or status:5xx (has precedence over out and error)"},
			{Name: "error", Text: "any other result"},
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

func (cfg *httpConfig) Check(c *flow.Checker) {
	if url, constant := cfg.URL.Constant(); constant && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		c.Problem("http.url", "is not an HTTP URL", "begin it with https://", "url")
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Headers)) {
		if !headerName.MatchString(name) {
			c.Problem("http.header", "is not a valid name of a header", "", "headers", name)
		}
	}
	if !isStatuses(cfg.Success) {
		c.Problem("http.success", "is not a list of status codes", "for example 200-299,404", "success")
	}
	for _, output := range c.Wired() {
		if strings.HasPrefix(output, "status:") && !statusClass.MatchString(output) {
			c.Next("graph.output", output, "is not a status code or class", "for example status:404 or status:5xx")
		}
	}
	for i, x := range cfg.Extract {
		c.Saves(x.Var, x.Path.Kind(), "extract", i, "var")
	}
	c.Saves(cfg.SaveTo, expression.Map, "saveTo")
	cfg.checkBody(c)
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

func (cfg *httpConfig) checkBody(c *flow.Checker) {
	if cfg.Body == nil || cfg.Body.Kind == "none" {
		return
	}
	c.Need(cfg.Body.Value.Present(), "body", "value")
	if cfg.Method == "GET" || cfg.Method == "HEAD" {
		c.Warn("http.body", "a "+cfg.Method+" request has no body: the body is not sent", "", "body")
	}
	switch v := cfg.Body.Value; {
	case (cfg.Body.Kind == "form" || cfg.Body.Kind == "multipart") && !v.IsObject() && !v.IsText() && v.Present():
		c.Problem("http.body", "must be an object of fields", "", "body", "value")
	case v.Size() > maxBody:
		c.Problem("shape.size", "is larger than 256 KiB", "", "body", "value")
	}
}

func (cfg *httpConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if cfg.Auth != "" {
		c.Refer("credential", cfg.Auth, env.Credentials, "auth")
	}
}

const codeHTTPURL = "http.bad_url"

const maxHTTPBody = 256 << 10

// Step builds the request and makes the first attempt.
func (cfg *httpConfig) Step(t *flow.Turn) (flow.Exit, error) {
	r, err := cfg.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"method": r.Method, "url": r.URL}, nil)
	return t.Call(flow.Call{Kind: flow.CallHTTP, Once: cfg.once(), Timeout: cfg.Timeout, Request: r})
}

// once reports that a request that may have arrived is not repeated.
func (cfg *httpConfig) once() bool {
	switch cfg.Idempotency {
	case "safe":
		return false
	case "once":
		return true
	}
	return cfg.Method == "POST" || cfg.Method == "PATCH"
}

func (cfg *httpConfig) request(t *flow.Turn) (flow.HTTPRequest, error) {
	r := flow.HTTPRequest{Method: cfg.Method, Credential: cfg.Auth, MaxBytes: int64(cfg.MaxResponse)}
	var err error
	if r.URL, err = cfg.url(t); err != nil {
		return r, err
	}
	if r.Headers, err = cfg.headers(t); err != nil {
		return r, err
	}
	if cfg.Body != nil {
		r.Body, err = cfg.Body.build(t)
	}
	return r, err
}

func (cfg *httpConfig) url(t *flow.Turn) (string, error) {
	s, err := t.Text(cfg.URL)
	if err != nil {
		return "", fmt.Errorf("url: %w", err)
	}
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(s) > 2048 {
		return "", &flow.Error{Code: codeHTTPURL, Message: "url: must be a URL that begins with https:// or http://"}
	}
	if len(cfg.Query) == 0 {
		return u.String(), nil
	}
	q := u.Query()
	for _, name := range values.Names(cfg.Query) {
		v, err := t.Text(cfg.Query[name])
		if err != nil {
			return "", fmt.Errorf("query.%s: %w", name, err)
		}
		q.Set(name, v)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func (cfg *httpConfig) headers(t *flow.Turn) (map[string]string, error) {
	if len(cfg.Headers) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(cfg.Headers))
	for _, name := range values.Names(cfg.Headers) {
		v, err := t.Text(cfg.Headers[name])
		if err != nil {
			return nil, fmt.Errorf("headers.%s: %w", name, err)
		}
		if strings.ContainsAny(v, "\r\n\x00") {
			return nil, values.WrongType("headers." + name + ": must not have line breaks")
		}
		out[name] = v
	}
	return out, nil
}

// build renders the body of a request.
func (b *httpBody) build(t *flow.Turn) (flow.HTTPBody, error) {
	v, err := t.Data(b.Value)
	if err == nil {
		v, err = values.Admit(v)
	}
	if err != nil {
		return flow.HTTPBody{}, fmt.Errorf("body: %w", err)
	}
	var out flow.HTTPBody
	switch b.Kind {
	case "json":
		out = flow.HTTPBody{Type: "application/json", Text: string(values.Append(nil, v))}
	case "text":
		out = flow.HTTPBody{Type: "text/plain; charset=utf-8", Text: expression.Format(v)}
	case "form", "multipart":
		if out, err = b.form(v); err != nil {
			return flow.HTTPBody{}, err
		}
	}
	if len(out.Text) > maxHTTPBody {
		return flow.HTTPBody{}, values.TooLarge("body: is larger than 256 KiB")
	}
	return out, nil
}

func (b *httpBody) form(v any) (flow.HTTPBody, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return flow.HTTPBody{}, values.WrongType("body: must be an object of fields")
	}
	form, size := make(map[string]string, len(fields)), 0
	for name, v := range fields {
		form[name] = expression.Format(v)
		size += len(name) + len(form[name])
	}
	if size > maxHTTPBody {
		return flow.HTTPBody{}, values.TooLarge("body: is larger than 256 KiB")
	}
	if b.Kind == "multipart" {
		return flow.HTTPBody{Type: "multipart/form-data", Form: form}, nil
	}
	values := url.Values{}
	for name, s := range form {
		values.Set(name, s)
	}
	return flow.HTTPBody{Type: "application/x-www-form-urlencoded", Text: values.Encode()}, nil
}

// Resume takes the response, or repeats the request.
func (cfg *httpConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	done, ok := in.(flow.EffectDone)
	if !ok { // the time of a repetition has come
		r, err := cfg.request(t)
		if err != nil {
			return flow.Exit{}, err
		}
		return t.Call(flow.Call{Kind: flow.CallHTTP, Once: cfg.once(), Timeout: cfg.Timeout, Request: r})
	}
	if done.Err != nil {
		return t.Again(cfg.Retry, done.Err, cfg.once())
	}
	response, err := flow.Result[flow.HTTPResponse](done)
	if err != nil {
		return flow.Exit{}, err
	}
	return cfg.answered(t, response)
}

// answered leaves by the status of a response.
func (cfg *httpConfig) answered(t *flow.Turn, r flow.HTTPResponse) (flow.Exit, error) {
	success := inRanges(cfg.Success, r.Status)
	failed := &flow.Error{
		Code: flow.CodeHTTPStatus, Message: "the server answered with status " + strconv.Itoa(r.Status),
		Detail: map[string]any{"status": r.Status},
	}
	t.Note(nil, map[string]any{"status": r.Status})
	if !success && (r.Status == 429 || r.Status >= 500) {
		if exit, err := t.Again(cfg.Retry, failed, cfg.once() && r.Status != 429 && r.Status != 503); err == nil {
			return exit, nil
		}
	}
	response, err := responseValue(r)
	if err != nil {
		return flow.Exit{}, err
	}
	if err := cfg.keep(t, response, success); err != nil {
		return flow.Exit{}, err
	}
	code := strconv.Itoa(r.Status)
	for _, output := range []string{"status:" + code, "status:" + code[:1] + "xx"} {
		if t.Connected(output) {
			return flow.Out(output), nil
		}
	}
	if !success {
		failed.Attempt = t.WaitedFor.Tries
		if body, err := values.Admit(values.TraceBounds.Truncate(response["body"])); err == nil {
			failed.Detail["body"] = body
		}
		return flow.Exit{}, failed
	}
	return flow.Out("out"), nil
}

// value is the response as expressions see it: whole, as only what is saved
// of it must fit into variables.
func responseValue(r flow.HTTPResponse) (map[string]any, error) {
	headers := make(map[string]any, len(r.Headers))
	for name, v := range r.Headers {
		headers[strings.ToLower(name)] = v
	}
	body := r.Body
	if raw, ok := body.(json.RawMessage); ok {
		var err error
		if body, err = values.ParseJSON(raw); err != nil {
			return nil, &flow.Error{Code: flow.CodeHTTPBody, Message: "the response is not valid JSON"}
		}
	}
	return map[string]any{"status": r.Status, "headers": headers, "body": body}, nil
}

// keep saves the response, and of one that is a success its parts.
func (cfg *httpConfig) keep(t *flow.Turn, response map[string]any, success bool) error {
	if err := t.Save(cfg.SaveTo, response); err != nil {
		return err
	}
	if !success {
		return nil
	}
	for i, x := range cfg.Extract {
		v, err := t.EvalWith(x.Path, "response", response)
		if err == nil {
			err = t.Set(x.Var, v)
		}
		if err != nil {
			return fmt.Errorf("extract[%d]: %w", i, err)
		}
	}
	return nil
}

// inRanges reports whether n is in a list of numbers and ranges: 200-299,404.
func inRanges(ranges string, n int) bool {
	for part := range strings.SplitSeq(ranges, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		low, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil {
			continue
		}
		high := low
		if isRange {
			if high, err = strconv.Atoi(strings.TrimSpace(to)); err != nil {
				continue
			}
		}
		if n >= low && n <= high {
			return true
		}
	}
	return false
}
