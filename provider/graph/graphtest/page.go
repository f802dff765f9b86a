package graphtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Page is a Facebook page that the fake knows.
type Page struct {
	ID           string
	Name         string // "": Example Shop
	AccessToken  string // may act for this page
	AppSecret    string // signs callbacks
	VerifyToken  string // of the handshake
	AppID        string // of who has the token; "": 100000000000001
	TokenExpires time.Time
}

func (p *Page) app() string { return defaulted(p.AppID, "100000000000001") }

// pages is what the fake keeps of pages.
type pages struct {
	known      []Page
	subscribed map[string][]string // fields by page
	names      map[string][2]string
	personas   map[string]json.RawMessage
}

// AddPage makes a further page known.
func (s *Server) AddPage(p Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages.known = append(s.pages.known, p)
}

// SetProfile names a person to all pages. Without it the API answers that the
// profile is not to be had.
func (s *Server) SetProfile(person, firstName, lastName string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages.names[person] = [2]string{firstName, lastName}
}

// SubscribedFields are those that a page was subscribed with last.
func (s *Server) SubscribedFields(page string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pages.subscribed[page])
}

// page finds a page by its id; "" is the first.
func (s *Server) page(id string) (Page, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages.known {
		if id == "" || p.ID == id {
			return p, true
		}
	}
	return Page{}, false
}

// pageOf finds the page that a token acts for.
func (s *Server) pageOf(token string) (Page, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.pages.known, func(p Page) bool { return p.AccessToken == token })
	if i < 0 {
		return Page{}, false
	}
	return s.pages.known[i], true
}

// pageCall answers for a page and what belongs to it; nil when the token is no
// page's.
func (s *Server) pageCall(c *call) *reply {
	p, is := s.pageOf(c.token)
	if !is || c.id == "debug_token" {
		return nil
	}
	var answer *reply
	switch {
	case c.id == "me" || c.id == p.ID:
		answer = s.pageEdge(p, c)
	case c.edge == "":
		answer = s.pageObject(p, c)
	}
	if answer == nil {
		return absent(strings.ToLower(c.method), c.id)
	}
	return answer
}

func (s *Server) pageEdge(p Page, c *call) *reply {
	switch c.method + " " + c.edge {
	case "GET ":
		return ok(map[string]string{"id": p.ID, "name": defaulted(p.Name, "Example Shop")})
	case "POST messages":
		return s.pageMessage(p, c.body)
	case "POST message_attachments":
		return s.pageUpload(p, c)
	case "POST pass_thread_control", "POST take_thread_control", "POST request_thread_control":
		return success
	case "POST personas":
		id := newPersonID()
		s.record(func() { s.pages.personas[id] = c.body })
		return ok(map[string]string{"id": id})
	case "POST subscribed_apps":
		return s.subscribePage(p, c)
	case "GET subscribed_apps":
		fields := s.SubscribedFields(p.ID)
		if fields == nil {
			return ok(map[string]any{"data": []any{}})
		}
		return ok(map[string]any{"data": []any{map[string]any{"id": p.app(), "name": "Example App", "subscribed_fields": fields}}})
	}
	return nil
}

// pageFields are those that a page can be subscribed with.
var pageFields = []string{
	"messages", "message_echoes", "message_deliveries", "message_reads", "message_reactions", "message_edits",
	"messaging_postbacks", "messaging_referrals", "messaging_optins", "messaging_handovers", "standby",
	"messaging_account_linking", "messaging_policy_enforcement", "messaging_feedback", "feed",
}

func (s *Server) subscribePage(p Page, c *call) *reply {
	var fields []string
	if asked := c.query["subscribed_fields"]; len(asked) > 0 {
		fields = strings.Split(asked[0], ",")
	}
	if len(fields) == 0 {
		return refuse(100, "(#100) The parameter subscribed_fields is required.")
	}
	for _, f := range fields {
		if !slices.Contains(pageFields, f) {
			return refuse(100, "(#100) Param subscribed_fields must be one of {%s}", strings.Join(pageFields, ", "))
		}
	}
	s.record(func() { s.pages.subscribed[p.ID] = fields })
	return ok(map[string]string{"success": "true"}) // as the documentation has it
}

// pageObject answers for a person or a persona.
func (s *Server) pageObject(p Page, c *call) *reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if persona, is := s.pages.personas[c.id]; is {
		if c.method == http.MethodDelete {
			delete(s.pages.personas, c.id)
			return success
		}
		var out map[string]any
		_ = json.Unmarshal(persona, &out)
		out["id"] = c.id
		return ok(out)
	}
	_, wrote := s.wrote[p.ID+"/"+c.id]
	name, named := s.pages.names[c.id]
	if c.method != http.MethodGet || !wrote && !named {
		return nil
	}
	if !named {
		return &reply{status: http.StatusBadRequest, fail: &failure{code: 100, subcode: 2018218, message: "(#100) No profile available for this user."}}
	}
	return ok(map[string]string{"id": c.id, "first_name": name[0], "last_name": name[1], "profile_pic": "https://pictures.example/" + c.id})
}
