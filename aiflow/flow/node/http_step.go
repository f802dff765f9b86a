package node

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

const codeHTTPURL = "http.bad_url"

const maxHTTPBody = 256 << 10

// Step builds the request and makes the first attempt.
func (c *httpConfig) Step(t *flow.Turn) (flow.Exit, error) {
	r, err := c.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"method": r.Method, "url": r.URL}, nil)
	return t.Call(flow.Call{Kind: flow.CallHTTP, Once: c.once(), Timeout: c.Timeout, Request: r})
}

// once says that a request that may have arrived is not repeated.
func (c *httpConfig) once() bool {
	switch c.Idempotency {
	case "safe":
		return false
	case "once":
		return true
	}
	return c.Method == "POST" || c.Method == "PATCH"
}

func (c *httpConfig) request(t *flow.Turn) (flow.HTTPRequest, error) {
	r := flow.HTTPRequest{Method: c.Method, Credential: c.Auth, MaxBytes: int64(c.MaxResponse)}
	var err error
	if r.URL, err = c.url(t); err != nil {
		return r, err
	}
	if r.Headers, err = c.headers(t); err != nil {
		return r, err
	}
	if c.Body != nil {
		r.Body, err = c.Body.build(t)
	}
	return r, err
}

func (c *httpConfig) url(t *flow.Turn) (string, error) {
	s, err := t.Text(c.URL)
	if err != nil {
		return "", fmt.Errorf("url: %w", err)
	}
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(s) > 2048 {
		return "", &flow.Error{Code: codeHTTPURL, Message: "url: must be an address that begins with https:// or http://"}
	}
	if len(c.Query) == 0 {
		return u.String(), nil
	}
	q := u.Query()
	for _, name := range values.Names(c.Query) {
		v, err := t.Text(c.Query[name])
		if err != nil {
			return "", fmt.Errorf("query.%s: %w", name, err)
		}
		q.Set(name, v)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func (c *httpConfig) headers(t *flow.Turn) (map[string]string, error) {
	if len(c.Headers) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(c.Headers))
	for _, name := range values.Names(c.Headers) {
		v, err := t.Text(c.Headers[name])
		if err != nil {
			return nil, fmt.Errorf("headers.%s: %w", name, err)
		}
		if strings.ContainsAny(v, "\r\n\x00") {
			return nil, flow.WrongType("headers." + name + ": must be one line")
		}
		out[name] = v
	}
	return out, nil
}

// build renders the body of a request.
func (b *httpBody) build(t *flow.Turn) (flow.HTTPBody, error) {
	v, err := t.Data(b.Value)
	if err == nil {
		v, err = flow.Admit(v)
	}
	if err != nil {
		return flow.HTTPBody{}, fmt.Errorf("body: %w", err)
	}
	var out flow.HTTPBody
	switch b.Kind {
	case "json":
		out = flow.HTTPBody{Type: "application/json", Text: string(flow.AppendValue(nil, v))}
	case "text":
		out = flow.HTTPBody{Type: "text/plain; charset=utf-8", Text: expression.Format(v)}
	case "form", "multipart":
		if out, err = b.form(v); err != nil {
			return flow.HTTPBody{}, err
		}
	}
	if len(out.Text) > maxHTTPBody {
		return flow.HTTPBody{}, flow.TooLarge("body: has more than 256 KiB")
	}
	return out, nil
}

func (b *httpBody) form(v any) (flow.HTTPBody, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return flow.HTTPBody{}, flow.WrongType("body: must be an object of fields")
	}
	form, size := make(map[string]string, len(fields)), 0
	for name, v := range fields {
		form[name] = expression.Format(v)
		size += len(name) + len(form[name])
	}
	if size > maxHTTPBody {
		return flow.HTTPBody{}, flow.TooLarge("body: has more than 256 KiB")
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
func (c *httpConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	done, ok := in.(flow.EffectDone)
	if !ok { // the time of a repetition has come
		r, err := c.request(t)
		if err != nil {
			return flow.Exit{}, err
		}
		return t.Call(flow.Call{Kind: flow.CallHTTP, Once: c.once(), Timeout: c.Timeout, Request: r})
	}
	if done.Err != nil {
		return t.Again(c.Retry, done.Err, c.once())
	}
	response, err := flow.Result[flow.HTTPResponse](done)
	if err != nil {
		return flow.Exit{}, err
	}
	return c.answered(t, response)
}

// answered leaves by the status of a response.
func (c *httpConfig) answered(t *flow.Turn, r flow.HTTPResponse) (flow.Exit, error) {
	success := inRanges(c.Success, r.Status)
	failed := &flow.Error{
		Code: flow.CodeHTTPStatus, Message: "the server answered with status " + strconv.Itoa(r.Status),
		Detail: map[string]any{"status": r.Status},
	}
	t.Note(nil, map[string]any{"status": r.Status})
	if !success && (r.Status == 429 || r.Status >= 500) {
		if exit, err := t.Again(c.Retry, failed, c.once() && r.Status != 429 && r.Status != 503); err == nil {
			return exit, nil
		}
	}
	response, err := responseValue(r)
	if err != nil {
		return flow.Exit{}, err
	}
	if err := c.keep(t, response, success); err != nil {
		return flow.Exit{}, err
	}
	code := strconv.Itoa(r.Status)
	for _, output := range []string{"status:" + code, "status:" + code[:1] + "xx"} {
		if t.Node.Next[output] != nil {
			return flow.Out(output), nil
		}
	}
	if !success {
		failed.Attempt = t.WaitedFor.Tries
		if body, err := flow.Admit(values.TraceBounds.Truncate(response["body"])); err == nil {
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
			return nil, &flow.Error{Code: flow.CodeHTTPBody, Message: "the response is no JSON"}
		}
	}
	return map[string]any{"status": r.Status, "headers": headers, "body": body}, nil
}

// keep saves the response, and of one that is a success its parts.
func (c *httpConfig) keep(t *flow.Turn, response map[string]any, success bool) error {
	if err := t.Save(c.SaveTo, response); err != nil {
		return err
	}
	if !success {
		return nil
	}
	for i, x := range c.Extract {
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
