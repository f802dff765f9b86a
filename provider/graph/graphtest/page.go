package graphtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Page is a Facebook page of the fake.
type Page struct {
	ID           string
	Name         string // "": Example Shop
	AccessToken  string // for this page
	AppSecret    string // signs callbacks
	VerifyToken  string // of the handshake
	AppID        string // of the token; "": 100000000000001
	TokenExpires time.Time
}

func (p *Page) app() string { return defaulted(p.AppID, "100000000000001") }

// Pages are the Facebook pages of a fake, and the actions of people on them.
type Pages struct {
	fake       *Server
	known      []Page
	subscribed map[string][]string // fields by page
	names      map[string][2]string
	personas   map[string]json.RawMessage
}

// Add adds a page.
func (ps *Pages) Add(p Page) {
	ps.fake.mu.Lock()
	defer ps.fake.mu.Unlock()
	ps.known = append(ps.known, p)
}

// SetProfile sets the profile of a person for all pages. Without it, the API
// answers that the profile is not available.
func (ps *Pages) SetProfile(person, firstName, lastName string) {
	ps.fake.mu.Lock()
	defer ps.fake.mu.Unlock()
	ps.names[person] = [2]string{firstName, lastName}
}

// SubscribedFields returns the fields that a page is subscribed to.
func (ps *Pages) SubscribedFields(page string) []string {
	ps.fake.mu.Lock()
	defer ps.fake.mu.Unlock()
	return slices.Clone(ps.subscribed[page])
}

// find returns the page with an id; "" is the first.
func (ps *Pages) find(id string) (Page, bool) {
	ps.fake.mu.Lock()
	defer ps.fake.mu.Unlock()
	for _, p := range ps.known {
		if id == "" || p.ID == id {
			return p, true
		}
	}
	return Page{}, false
}

// of returns the page of a token.
func (ps *Pages) of(token string) (Page, bool) {
	ps.fake.mu.Lock()
	defer ps.fake.mu.Unlock()
	i := slices.IndexFunc(ps.known, func(p Page) bool { return p.AccessToken == token })
	if i < 0 {
		return Page{}, false
	}
	return ps.known[i], true
}

// answer answers for a page and its objects; nil if the token is not a page's.
func (ps *Pages) answer(c *call) *reply {
	p, is := ps.of(c.token)
	if !is || c.id == "debug_token" {
		return nil
	}
	var answer *reply
	switch {
	case c.id == "me" || c.id == p.ID:
		answer = ps.edge(p, c)
	case c.edge == "":
		answer = ps.object(p, c)
	}
	if answer == nil {
		return absent(strings.ToLower(c.method), c.id)
	}
	return answer
}

func (ps *Pages) edge(p Page, c *call) *reply {
	switch c.method + " " + c.edge {
	case "GET ":
		return ok(map[string]string{"id": p.ID, "name": defaulted(p.Name, "Example Shop")})
	case "POST messages":
		return ps.message(p, c.body)
	case "POST message_attachments":
		return ps.upload(p, c)
	case "POST pass_thread_control", "POST take_thread_control", "POST request_thread_control":
		return success
	case "POST personas":
		id := newPersonID()
		ps.fake.record(func() { ps.personas[id] = c.body })
		return ok(map[string]string{"id": id})
	case "POST subscribed_apps":
		return ps.subscribe(p, c)
	case "GET subscribed_apps":
		fields := ps.SubscribedFields(p.ID)
		if fields == nil {
			return ok(map[string]any{"data": []any{}})
		}
		return ok(map[string]any{"data": []any{map[string]any{"id": p.app(), "name": "Example App", "subscribed_fields": fields}}})
	}
	return nil
}

// pageFields are the fields that a page can be subscribed to.
var pageFields = []string{
	"messages", "message_echoes", "message_deliveries", "message_reads", "message_reactions", "message_edits",
	"messaging_postbacks", "messaging_referrals", "messaging_optins", "messaging_handovers", "standby",
	"messaging_account_linking", "messaging_policy_enforcement", "messaging_feedback", "feed",
}

func (ps *Pages) subscribe(p Page, c *call) *reply {
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
	ps.fake.record(func() { ps.subscribed[p.ID] = fields })
	return ok(map[string]string{"success": "true"}) // as documented
}

// object answers for a person or a persona.
func (ps *Pages) object(p Page, c *call) *reply {
	ps.fake.mu.Lock()
	defer ps.fake.mu.Unlock()
	if persona, is := ps.personas[c.id]; is {
		if c.method == http.MethodDelete {
			delete(ps.personas, c.id)
			return success
		}
		var out map[string]any
		_ = json.Unmarshal(persona, &out)
		out["id"] = c.id
		return ok(out)
	}
	_, wrote := ps.fake.wrote[p.ID+"/"+c.id]
	name, named := ps.names[c.id]
	if c.method != http.MethodGet || !wrote && !named {
		return nil
	}
	if !named {
		return &reply{status: http.StatusBadRequest, fail: &failure{code: 100, subcode: 2018218, message: "(#100) No profile available for this user."}}
	}
	return ok(map[string]string{"id": c.id, "first_name": name[0], "last_name": name[1], "profile_pic": "https://pictures.example/" + c.id})
}
