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

var templateName = regexp.MustCompile(`^[a-z0-9_]{1,512}$`)

// PutTemplate keeps a template as if it had been created in the dashboard, and
// returns its id.
func (s *Server) PutTemplate(t Template) (id string) {
	s.record(func() {
		s.lastTemplate++
		t.ID = strconv.Itoa(900000000000000 + s.lastTemplate)
		t.Status = defaulted(t.Status, "PENDING")
		t.Quality = defaulted(t.Quality, "UNKNOWN")
		s.templates = append(s.templates, t)
	})
	return t.ID
}

// Templates returns the templates of a business account, in the order of their
// creation.
func (s *Server) Templates(account string) []Template {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Template
	for _, t := range s.templates {
		if t.Account == account {
			list = append(list, t)
		}
	}
	return list
}

// ReviewTemplate changes a template's status and posts that to the callback,
// as [Server.Write] posts: APPROVED, REJECTED with a reason, PAUSED …
func (s *Server) ReviewTemplate(ctx context.Context, id, status, reason string) error {
	var t *Template
	s.record(func() {
		for i := range s.templates {
			if s.templates[i].ID == id {
				s.templates[i].Status, s.templates[i].Reason = status, reason
				copied := s.templates[i]
				t = &copied
			}
		}
	})
	if t == nil {
		return fmt.Errorf("graphtest: no template %q", id)
	}
	lines := s.account(t.Account)
	if len(lines) == 0 {
		return fmt.Errorf("graphtest: no line of the business account %q", t.Account)
	}
	number, _ := strconv.ParseInt(t.ID, 10, 64)
	return s.Post(ctx, lines[0].PhoneNumberID, wire(map[string]any{
		"object": "whatsapp_business_account",
		"entry": []any{map[string]any{
			"id": t.Account, "time": s.opts.Now().Unix(),
			"changes": []any{map[string]any{"field": "message_template_status_update", "value": map[string]any{
				"event": status, "message_template_id": number, "message_template_name": t.Name,
				"message_template_language": t.Language, "reason": defaulted(reason, "NONE"),
			}}},
		}},
	}))
}

func (s *Server) templatesEdge(l Line, c *call) *reply {
	switch c.method {
	case http.MethodPost:
		return s.createTemplate(l, c.body)
	case http.MethodGet:
		return s.listTemplates(l, c)
	case http.MethodDelete:
		return s.deleteTemplates(l, c)
	}
	return absent(strings.ToLower(c.method), c.id)
}

func (s *Server) createTemplate(l Line, body []byte) *reply {
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
	for _, t := range s.Templates(l.BusinessAccountID) {
		if t.Name == in.Name && t.Language == in.Language {
			r := refuse(100, "Invalid parameter")
			r.fail.subcode, r.fail.details = 2388024, "Content in this language already exists"
			return r
		}
	}
	id := s.PutTemplate(Template{
		Account: l.BusinessAccountID, Name: in.Name, Language: in.Language, Category: in.Category,
		Format: defaulted(in.Format, "POSITIONAL"), Components: in.Components,
	})
	return ok(map[string]string{"id": id, "status": "PENDING", "category": in.Category})
}

// listTemplates answers a page; after is the number of templates before it.
func (s *Server) listTemplates(l Line, c *call) *reply {
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
	if s.opts.TemplatePage > 0 {
		limit = min(limit, s.opts.TemplatePage)
	}
	list := slices.DeleteFunc(s.Templates(l.BusinessAccountID), func(t Template) bool {
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

// template answers for a template's id; nil when there is none.
func (s *Server) template(c *call) *reply {
	if c.method != http.MethodGet || c.edge != "" {
		return nil
	}
	s.mu.Lock()
	at := slices.IndexFunc(s.templates, func(t Template) bool { return t.ID == c.id })
	var found Template
	if at >= 0 {
		found = s.templates[at]
	}
	s.mu.Unlock()
	for _, l := range s.account(found.Account) {
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

func (s *Server) deleteTemplates(l Line, c *call) *reply {
	name, id := c.query["name"], c.query["hsm_id"]
	if len(name) == 0 {
		return refuse(100, "(#100) The parameter name is required.")
	}
	found := false
	s.record(func() {
		s.templates = slices.DeleteFunc(s.templates, func(t Template) bool {
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
