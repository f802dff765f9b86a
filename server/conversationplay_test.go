package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// env is where conversations take place. The server may be another at any
// time, on the same database.
type env struct {
	db    *sqlx.DB
	clock *wallClock

	mu     sync.Mutex
	server fixture // the one that lives
	token  string
	until  time.Time // the token holds
}

// now is the account that has the conversations, on the server that lives.
func (h *env) now() client {
	h.mu.Lock()
	defer h.mu.Unlock()
	return client{h.server, h.token}
}

// enter has the account log in, if it must.
func (h *env) enter(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	if now.Before(h.until) {
		return
	}
	if h.token == "" {
		h.server.signUp(t, "ana@example.org")
	}
	in := h.server.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`).json(200)
	h.token, h.until = in["token"].(string), now.Add(auth.TokenTTL-time.Hour)
}

// play has a conversation on a reference of its own, and returns it with what came
// of it.
func (h *env) play(t *testing.T, name string, c *conversation) *conversation {
	t.Helper()
	h.enter(t)
	p := &player{env: h, t: t, name: name, of: c, web: newInternet(t, c.Web), ref: h.now().sandbox(t)}
	h.now().call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["data"]}`, p.ref, echoURL)).json(201)
	for i, short := range c.Flows {
		p.bots = append(p.bots, p.bot(fmt.Sprint("bot", i+1), flowOf(t, name, p.web.URL, short)))
	}
	out := *c
	out.Steps = slices.Clone(c.Steps)
	shown := 0
	for i := range out.Steps {
		p.do(&out.Steps[i])
		p.quiet()
		all := p.shown()
		require.GreaterOrEqual(t, len(all), shown)
		out.Steps[i].Shows, shown = all[shown:], len(all)
	}
	out.Want = p.outcome()
	p.web.requireOnce(t)
	return &out
}

// player plays a conversation.
type player struct {
	*env
	t    *testing.T
	name string
	of   *conversation
	web  *internet
	ref  int
	bots []string
	last string // id of the message that the contact saw last
}

// bot makes a bot and publishes it, if it can be.
func (p *player) bot(name, doc string) string {
	p.t.Helper()
	b := p.now().call(p.t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":%q,"flow":%s}`, p.ref, name, doc)).json(201)
	p.now().call(p.t, "POST", fmt.Sprintf("/bot/%s/publish", b["id"]), "").json(200)
	return b["id"].(string)
}

func (p *player) do(m *move) {
	p.t.Helper()
	switch {
	case m.Send != nil:
		p.say(m.Send)
	case m.Burst != nil:
		for _, text := range m.Burst {
			raw, err := json.Marshal(text)
			require.NoError(p.t, err)
			p.say(raw)
		}
	case m.Pass != "":
		d, err := time.ParseDuration(m.Pass)
		require.NoError(p.t, err)
		p.clock.pass(d)
		p.enter(p.t)
	case m.Person != "":
		p.person(m.Person)
	case m.Edit != nil:
		p.now().call(p.t, "PATCH", "/bot/"+p.bots[0], `{"flow":`+flowOf(p.t, p.name, p.web.URL, m.Edit)+`}`).json(200)
	case m.Publish:
		p.now().call(p.t, "POST", "/bot/"+p.bots[0]+"/publish", "").json(200)
	}
	p.changed()
}

// changed has whatever server there is now look at what waits.
func (p *player) changed() {
	p.now().Runs.Notify()
}

// say has the contact write a text, or a message of another type.
func (p *player) say(message json.RawMessage) {
	p.t.Helper()
	content := map[string]any{"type": "text"}
	if message[0] == '"' {
		content["text"] = message
	} else {
		require.NoError(p.t, json.Unmarshal(message, &content))
	}
	if content["messageId"] == "<last>" {
		content["messageId"] = p.last
	}
	content["from"], content["pushName"] = "joe", "Joe"
	body, err := json.Marshal(content)
	require.NoError(p.t, err)
	p.now().call(p.t, "POST", fmt.Sprintf("/sandbox/%d/messages", p.ref), string(body)).json(201)
}

// person does what a person of the account can do.
func (p *player) person(what string) {
	p.t.Helper()
	change := map[string]string{"take": `"handoff":"take"`, "close": `"handoff":"close"`, "off": `"botActive":0`, "on": `"botActive":1`}[what]
	if change != "" {
		p.now().call(p.t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"joe",%s}`, p.ref, change)).json(200)
		return
	}
	require.Equal(p.t, "write", what)
	c := p.now()
	cookie := c.do(p.t, "POST", "/user/login", logIn).cookie()
	c.do(p.t, "POST", "/chats/send", sendBody(p.ref, "joe", `{"type":"text","text":"A person here."}`), "Cookie", cookie.Name+"="+cookie.Value).json(200)
}

// underWay counts what is not finished in the conversation.
type underWay struct{ Inputs, Calls, Timers, Sends int }

const underWayQuery = `SELECT
	(SELECT count(*) FROM flow_input i WHERE i.reference = $1
		AND NOT EXISTS (SELECT 1 FROM flow_run r WHERE r.seq = i.after_run AND r.ended_us = 0)) AS inputs,
	(SELECT count(*) FROM flow_effect e JOIN flow_run r ON r.seq = e.run WHERE r.reference = $1 AND e.done_us = 0 AND r.ended_us = 0) AS calls,
	(SELECT count(*) FROM flow_timer e JOIN flow_run r ON r.seq = e.run WHERE r.reference = $1 AND e.at_us <= $2) AS timers,
	(SELECT count(*) FROM messaging_outbound WHERE reference = $1 AND NOT announced) AS sends`

// quiet waits until nothing in the conversation is under way.
func (p *player) quiet() {
	p.t.Helper()
	var left underWay
	rounds := 0
	done := func() bool {
		if rounds++; rounds%20 == 0 {
			p.changed()
		}
		err := p.db.GetContext(p.t.Context(), &left, underWayQuery, p.ref, p.clock.Now().UnixMicro())
		return err == nil && left == underWay{}
	}
	if !assert.Eventually(p.t, done, eventually, 10*time.Millisecond) {
		require.Failf(p.t, "something is under way for ever", "%+v", left)
	}
}

// shown is what the contact's phone shows of others, the oldest first: texts,
// and all of other messages, then what others have put under the contact's own.
func (p *player) shown() []string {
	p.t.Helper()
	items := p.now().call(p.t, "GET", fmt.Sprintf("/sandbox/%d/messages?from=joe&limit=200", p.ref), "").json(200)["items"].([]any)
	out, reactions := []string{}, []string{}
	for _, it := range slices.Backward(items) {
		m := it.(map[string]any)
		if m["direction"] != "in" {
			under, _ := m["reactions"].([]any)
			for _, r := range under {
				raw, err := json.Marshal(map[string]any{"type": "reaction", "messageId": "<id>", "emoji": r.(map[string]any)["emoji"]})
				require.NoError(p.t, err)
				reactions = append(reactions, string(raw))
			}
			continue
		}
		delete(m, "reactions")
		p.last = m["id"].(string)
		for _, name := range []string{"direction", "id", "chatId", "status", "messageTimestamp"} {
			delete(m, name)
		}
		if m["type"] == "text" && len(m) == 2 {
			out = append(out, m["text"].(string))
			continue
		}
		if m["messageId"] != nil {
			m["messageId"] = "<id>"
		}
		if context, ok := m["context"].(map[string]any); ok {
			context["messageId"] = "<id>"
		}
		raw, err := json.Marshal(m)
		require.NoError(p.t, err)
		out = append(out, string(raw))
	}
	return append(out, reactions...)
}

// outcome is what the conversation has left behind.
func (p *player) outcome() outcome {
	p.t.Helper()
	o := outcome{Contact: map[string]any{}}
	for i, id := range p.bots {
		items := p.now().call(p.t, "GET", "/bot/"+id+"/runs", "").json(200)["items"].([]any)
		for _, it := range slices.Backward(items) {
			o.Runs = append(o.Runs, p.ran(fmt.Sprint("bot", i+1), it.(map[string]any)["id"].(string)))
		}
	}
	for _, it := range p.now().call(p.t, "GET", fmt.Sprintf("/chats/list?reference=%d", p.ref), "").json(200)["items"].([]any) {
		chat := it.(map[string]any)
		for _, name := range []string{"tags", "fields", "language", "optedOut", "activeBot", "handoff", "botActive"} {
			o.Contact[name] = chat[name]
		}
		if handoff, is := o.Contact["handoff"].(map[string]any); is {
			delete(handoff, "since")
			delete(handoff, "until")
		}
		if _, is := o.Contact["activeBot"].(map[string]any); is {
			o.Contact["activeBot"] = "there is one"
		}
	}
	var events []string
	require.NoError(p.t, p.db.SelectContext(p.t.Context(), &events,
		`SELECT body FROM webhook_event WHERE scope = $1 AND type = 'data' ORDER BY number`, fmt.Sprint(p.ref)))
	if events != nil {
		o.Events = p.plain(json.RawMessage("[" + strings.Join(events, ",") + "]"))
	}
	p.web.mu.Lock()
	defer p.web.mu.Unlock()
	o.Calls = slices.Clone(p.web.calls)
	return o
}

// plain takes out of events what is another at each play.
func (p *player) plain(raw json.RawMessage) json.RawMessage {
	var all []map[string]any
	require.NoError(p.t, json.Unmarshal(raw, &all))
	for i, e := range all {
		all[i] = map[string]any{"event": e["event"], "remoteJid": e["remoteJid"], "chatId": e["chatId"]}
	}
	raw, err := json.Marshal(all)
	require.NoError(p.t, err)
	return raw
}

// ran is a run with its path.
func (p *player) ran(bot, id string) ran {
	p.t.Helper()
	d := p.now().call(p.t, "GET", "/bot/run/"+id, "").json(200)
	r := ran{Bot: bot, Version: d["version"].(float64), Status: d["status"].(string), Waits: d["waitingFor"], Output: d["output"]}
	r.Variables, _ = d["variables"].(map[string]any)
	if e, is := d["error"].(map[string]any); is {
		r.Error = e["code"]
	}
	for _, it := range d["steps"].([]any) {
		step := it.(map[string]any)
		row := step["node"].(string)
		if out, is := step["output"].(string); is {
			row += " " + out
		}
		if e, is := step["error"].(map[string]any); is {
			row += " (" + e["code"].(string) + ")"
		}
		r.Path = append(r.Path, row)
	}
	return r
}
