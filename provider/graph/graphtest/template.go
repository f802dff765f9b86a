package graphtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Template is a template of a business account.
type Template struct {
	ID         string
	Account    string // business account id
	Name       string
	Language   string
	Category   string
	Status     string // "": PENDING
	Format     string // POSITIONAL, NAMED
	Reason     string // of a rejection, or ""
	Quality    string // GREEN, YELLOW, RED, UNKNOWN; "": UNKNOWN
	Components []json.RawMessage
}

// Templates are the templates of the business accounts of a fake.
type Templates struct {
	fake *Server
	list []Template
	last int // number of the newest
}

var templateName = regexp.MustCompile(`^[a-z0-9_]{1,512}$`)

// Put stores a template as if it had been created in the dashboard, and returns
// its id.
func (ts *Templates) Put(t Template) (id string) {
	ts.fake.record(func() {
		ts.last++
		t.ID = strconv.Itoa(900000000000000 + ts.last)
		t.Status = defaulted(t.Status, "PENDING")
		t.Quality = defaulted(t.Quality, "UNKNOWN")
		ts.list = append(ts.list, t)
	})
	return t.ID
}

// List returns the templates of a business account, in the order of their
// creation.
func (ts *Templates) List(account string) []Template {
	ts.fake.mu.Lock()
	defer ts.fake.mu.Unlock()
	var list []Template
	for _, t := range ts.list {
		if t.Account == account {
			list = append(list, t)
		}
	}
	return list
}

// Review changes a template's status, such as APPROVED, REJECTED with a reason,
// or PAUSED. It posts the change as [Server.Write] does.
func (ts *Templates) Review(ctx context.Context, id, status, reason string) error {
	var t *Template
	ts.fake.record(func() {
		for i := range ts.list {
			if ts.list[i].ID == id {
				ts.list[i].Status, ts.list[i].Reason = status, reason
				copied := ts.list[i]
				t = &copied
			}
		}
	})
	if t == nil {
		return fmt.Errorf("graphtest: no template %q", id)
	}
	numbers := ts.fake.account(t.Account)
	if len(numbers) == 0 {
		return fmt.Errorf("graphtest: no number of the business account %q", t.Account)
	}
	number, _ := strconv.ParseInt(t.ID, 10, 64)
	return ts.fake.Post(ctx, numbers[0].PhoneNumberID, wire(map[string]any{
		"object": "whatsapp_business_account",
		"entry": []any{map[string]any{
			"id": t.Account, "time": ts.fake.opts.Now().Unix(),
			"changes": []any{map[string]any{"field": "message_template_status_update", "value": map[string]any{
				"event": status, "message_template_id": number, "message_template_name": t.Name,
				"message_template_language": t.Language, "reason": defaulted(reason, "NONE"),
			}}},
		}},
	}))
}

func (ts *Templates) edge(l Number, c *call) *reply {
	switch c.method {
	case http.MethodPost:
		return ts.create(l, c.body)
	case http.MethodGet:
		return ts.page(l, c)
	case http.MethodDelete:
		return ts.delete(l, c)
	}
	return absent(strings.ToLower(c.method), c.id)
}

func (ts *Templates) create(l Number, body []byte) *reply {
	var in struct {
		Name       string            `json:"name"`
		Language   string            `json:"language"`
		Category   string            `json:"category"`
		Format     string            `json:"parameter_format"`
		Components []json.RawMessage `json:"components"`
	}
	if err := strict(body, &in); err != nil {
		return refuse(100, "(#100) %v", err)
	}
	if !templateName.MatchString(in.Name) || in.Language == "" || len(in.Components) == 0 {
		return refuse(100, "(#100) Invalid parameter")
	}
	if !slices.Contains([]string{"MARKETING", "UTILITY", "AUTHENTICATION"}, in.Category) {
		return refuse(100, "(#100) Param category must be one of {MARKETING, UTILITY, AUTHENTICATION}")
	}
	for _, t := range ts.List(l.BusinessAccountID) {
		if t.Name == in.Name && t.Language == in.Language {
			r := refuse(100, "Invalid parameter")
			r.fail.subcode, r.fail.details = 2388024, "Content in this language already exists"
			return r
		}
	}
	id := ts.Put(Template{
		Account: l.BusinessAccountID, Name: in.Name, Language: in.Language, Category: in.Category,
		Format: defaulted(in.Format, "POSITIONAL"), Components: in.Components,
	})
	return ok(map[string]string{"id": id, "status": "PENDING", "category": in.Category})
}

// page returns a page of templates; after is the number of templates before it.
func (ts *Templates) page(l Number, c *call) *reply {
	one := func(name string) string {
		if values := c.query[name]; len(values) > 0 {
			return values[0]
		}
		return ""
	}
	limit, _ := strconv.Atoi(one("limit"))
	if limit <= 0 {
		limit = 25
	}
	if ts.fake.opts.TemplatePage > 0 {
		limit = min(limit, ts.fake.opts.TemplatePage)
	}
	list := slices.DeleteFunc(ts.List(l.BusinessAccountID), func(t Template) bool {
		return !strings.Contains(t.Name, one("name")) || one("status") != "" && t.Status != one("status")
	})
	from := 0
	if after := one("after"); after != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(after, "after-"))
		if err != nil {
			return refuse(100, "(#100) Invalid parameter after")
		}
		from = min(n, len(list))
	}
	to := min(from+limit, len(list))
	data := []any{}
	for _, t := range list[from:to] {
		data = append(data, t.object())
	}
	paging := map[string]any{"cursors": map[string]string{"before": fmt.Sprintf("after-%d", from), "after": fmt.Sprintf("after-%d", to)}}
	if to < len(list) {
		paging["next"] = fmt.Sprintf("https://graph.example/%s/message_templates?access_token=%s&after=after-%d", c.id, c.token, to)
	}
	return ok(map[string]any{"data": data, "paging": paging})
}

// answer answers for a template's id; nil if there is none.
func (ts *Templates) answer(c *call) *reply {
	if c.method != http.MethodGet || c.edge != "" {
		return nil
	}
	ts.fake.mu.Lock()
	at := slices.IndexFunc(ts.list, func(t Template) bool { return t.ID == c.id })
	var found Template
	if at >= 0 {
		found = ts.list[at]
	}
	ts.fake.mu.Unlock()
	for _, l := range ts.fake.account(found.Account) {
		if at >= 0 && l.AccessToken == c.token {
			return ok(found.object())
		}
	}
	return nil
}

func (t *Template) object() map[string]any {
	return map[string]any{
		"id": t.ID, "name": t.Name, "language": t.Language, "status": t.Status, "category": t.Category,
		"parameter_format": defaulted(t.Format, "POSITIONAL"), "components": t.Components,
		"rejected_reason": defaulted(t.Reason, "NONE"), "quality_score": map[string]string{"score": t.Quality},
	}
}

func (ts *Templates) delete(l Number, c *call) *reply {
	name, id := c.query["name"], c.query["hsm_id"]
	if len(name) == 0 {
		return refuse(100, "(#100) The parameter name is required.")
	}
	found := false
	ts.fake.record(func() {
		ts.list = slices.DeleteFunc(ts.list, func(t Template) bool {
			hit := t.Account == l.BusinessAccountID && t.Name == name[0] && (len(id) == 0 || t.ID == id[0])
			found = found || hit
			return hit
		})
	})
	if !found {
		r := refuse(100, "Invalid parameter")
		r.fail.subcode, r.fail.details = 2593002, "Message Template Not Found"
		return r
	}
	return success
}
