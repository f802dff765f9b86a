package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy is a way by which a caller names what the server connects to.
type proxy struct {
	name string
	// members are those of request bodies that it covers, as "POST /path
	// member.of.body", with [] for the items of a list.
	members []string
	try     func(s *siege, t *testing.T)
}

var doors = []proxy{
	{"webhook", []string{"POST /references/registerWebHook webhook"}, func(s *siege, t *testing.T) {
		s.webhooks(t, "/references/registerWebHook", `{"reference":%d,"webhook":%s}`)
	}},
	{"webhook of a reference", []string{"POST /references/hookconf webhook"}, func(s *siege, t *testing.T) {
		s.webhooks(t, "/references/hookconf", `{"id":%d,"webhook":%s}`)
	}},
	{"delivery", nil, (*siege).deliveries},
	{"callback of a network", []string{"POST /references/registerWebHook callbackUrl"}, (*siege).subscriptions},
	{"file that is sent", []string{"POST /chats/send message.url"}, (*siege).sends},
	{"file that is received", []string{"POST /sandbox/{reference}/messages url"}, (*siege).inputs},
	{"file of a callback", nil, (*siege).callbacks},
	{"template", nil, (*siege).templates},
	{"flow", []string{"http url"}, (*siege).flows},
	{"file that a flow sends", []string{"message media.url", "question prompt.media.url", "handoff message.media.url"}, (*siege).flowFiles},
	{"bot", nil, (*siege).bots},
	{"MCP server", []string{"POST /aiflow/server url", "PATCH /aiflow/server/{serverId} url"}, (*siege).servers},
	{"tool of an MCP server", nil, (*siege).tools},
	{"proxy", []string{"provider-web proxyUrl"}, (*siege).proxies},
}

// put writes a reference and a target into a body.
func put(t *testing.T, body string, ref int, target string) string {
	t.Helper()
	return fmt.Sprintf(body, ref, encode(t, target))
}

// webhooks registers what is refused when it is, else when it is tested.
func (s *siege) webhooks(t *testing.T, path, body string) {
	t.Helper()
	ref := s.sandbox(t)
	for _, target := range slices.Concat(s.written(), malformed()) {
		s.named(t, target, s.call(t, "POST", path, put(t, body, ref, target)), "body.webhook")
	}
	for _, target := range append(s.hidden("http"), s.flip("http"), s.flip("https"), s.onPort("https://loop.test/")) {
		a := s.call(t, "POST", path, put(t, body, ref, target))
		require.Contains(t, []int{200, 201}, a.Code, target)
		id := fmt.Sprint("/references/hookconf/", s.idOf(t, ref, target))
		for range 2 { // names may lead elsewhere then
			tested := s.call(t, "POST", id+"/test", "")
			require.NotEmpty(t, tested.json(200)["error"], target)
			s.unheard(t, target, tested.Body.String())
		}
		s.call(t, "DELETE", id, "").json(200)
	}
}

// idOf is the id of a webhook.
func (s *siege) idOf(t *testing.T, ref int, target string) any {
	t.Helper()
	for _, it := range s.call(t, "GET", fmt.Sprintf("/references/hookconf?reference=%d", ref), "").json(200)["items"].([]any) {
		if ep := it.(map[string]any); ep["webhook"] == target {
			return ep["endpointId"]
		}
	}
	t.Fatalf("there is no webhook at %s", target)
	return nil
}

// deliveries has events for webhooks that were allowed once.
func (s *siege) deliveries(t *testing.T) {
	all := slices.Concat(s.written(), s.hidden("http"))
	count := 0
	for targets := range slices.Chunk(all, 80) {
		ref := s.sandbox(t)
		known := map[any]string{}
		for _, target := range targets {
			if a := s.open.call(t, "POST", "/references/registerWebHook", put(t, `{"reference":%d,"webhook":%s}`, ref, target)); a.Code != 422 {
				known[a.json(201)["endpointId"]] = target
			}
		}
		s.write(t, ref, "eve", "Hello")
		var items []any
		s.until(t, func() bool {
			items = s.call(t, "GET", fmt.Sprintf("/references/deliveries?reference=%d&limit=200", ref), "").json(200)["items"].([]any)
			return len(items) == len(known) && !slices.ContainsFunc(items, func(it any) bool { return len(it.(map[string]any)["attempts"].([]any)) == 0 })
		})
		for _, it := range items {
			d := it.(map[string]any)
			require.NotEqual(t, "delivered", d["state"])
			s.unheard(t, known[d["endpointId"]], fmt.Sprint(d["attempts"]))
		}
		for id, target := range known {
			tested := s.call(t, "POST", fmt.Sprintf("/references/hookconf/%s/test", id), "")
			require.NotEmpty(t, tested.json(200)["error"], target)
			s.unheard(t, target, tested.Body.String())
		}
		count += len(known)
		s.call(t, "DELETE", fmt.Sprintf("/reference/%d", ref), "").json(202)
	}
	require.Greater(t, count, len(all)*3/4)
}

// subscriptions tell a network where to post. It is the network that connects.
func (s *siege) subscriptions(t *testing.T) {
	for _, target := range s.some() {
		a := s.call(t, "POST", "/references/registerWebHook", put(t, `{"reference":%d,"provider":true,"callbackUrl":%s}`, s.cloud, target))
		s.unheard(t, target, a.Body.String())
	}
	for _, target := range malformed() {
		if u, err := url.Parse(target); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			continue // whether that can be reached is the network's to say
		}
		s.named(t, target, s.call(t, "POST", "/references/registerWebHook", put(t, `{"reference":%d,"provider":true,"callbackUrl":%s}`, s.cloud, target)), "body.callbackUrl")
	}
}

// sends of files have the server copy them.
func (s *siege) sends(t *testing.T) {
	ref := s.sandbox(t)
	try := func(ref int, chat, message, target string) {
		a := s.call(t, "POST", "/chats/send", sendBody(ref, chat, fmt.Sprintf(message, encode(t, target))))
		if a.Code == 422 {
			s.named(t, target, a, "body.message.url")
			return
		}
		published := a.Body.String()
		if a.Code == 200 {
			published += s.missing(t, ref, chat, a.json(200)["message"].(map[string]any)["id"], target)
		}
		s.unheard(t, target, published)
	}
	for _, target := range append(slices.Concat(s.written(), malformed(), s.hidden("http")), s.flip("http"), s.flip("https")) {
		try(ref, "eve", `{"type":"image","url":%s}`, target)
	}
	kinds := []string{`"video"`, `"document"`, `"audio"`, `"sticker"`, `"audio","voice":true`}
	for i, target := range s.some() {
		try(ref, "eve", `{"type":`+kinds[i%len(kinds)]+`,"url":%s}`, target)
		try(s.cloud, contact, `{"type":"image","url":%s}`, target)
	}
}

// missing is a message once it says that it has no file.
func (s *siege) missing(t *testing.T, ref int, chat string, id any, target string) (published string) {
	t.Helper()
	s.until(t, func() bool {
		a := s.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=200", ref, url.QueryEscape(chat)), "")
		for _, it := range a.json(200)["items"].([]any) {
			m := it.(map[string]any)
			if (id == nil || m["id"] == id) && m["error"] != nil {
				require.Empty(t, m["fileUrl"], target)
				published = fmt.Sprint(m["error"])
				return true
			}
		}
		return false
	}, target)
	return published
}

// inputs are messages of simulated contacts.
func (s *siege) inputs(t *testing.T) {
	ref := s.sandbox(t)
	for i, target := range slices.Concat(s.some(), malformed(), s.hidden("http")) {
		chat := fmt.Sprintf("c%d", i)
		a := s.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf(`{"from":%q,"type":"image","url":%s}`, chat, encode(t, target)))
		if a.Code == 422 {
			s.named(t, target, a, "body.url")
			continue
		}
		s.unheard(t, target, a.Body.String(), s.missing(t, ref, chat, a.json(201)["id"], target))
	}
}

// callbacks are signed by whoever has made the reference.
func (s *siege) callbacks(t *testing.T) {
	page := messengerPage()
	ref := s.reference(t, pageReference(page))
	targets := slices.Concat(s.some(), s.hidden("http"))
	from := func(i int) string { return fmt.Sprint(7000000000000000 + i) }
	for i, target := range targets {
		body := fmt.Sprintf(`{"object":"page","entry":[{"id":%q,"time":1749416383000,"messaging":[{"sender":{"id":%q},"recipient":{"id":%q},"timestamp":1749416383000,
			"message":{"mid":"m_%d","attachments":[{"type":"image","payload":{"url":%s}}]}}]}]}`, page.ID, from(i), page.ID, i, encode(t, target))
		require.Equal(t, 200, s.post(t, body, page.AppSecret).Code)
	}
	for i, target := range targets {
		s.unheard(t, target, s.missing(t, ref, from(i)+"@messenger", nil, target))
	}
}

// templates name files and addresses for the network and for the contact.
func (s *siege) templates(t *testing.T) {
	for _, target := range s.some() {
		template := call("welcome", "pt_BR", strings.Replace(filledWelcome, `"https://shop.example/a.png"`, string(encode(t, target)), 1))
		sent := s.call(t, "POST", "/chats/send", sendBody(s.cloud, contact, fmt.Sprintf(`{"type":"template","template":%s}`, template)))
		shown := s.call(t, "POST", "/templates/preview", fmt.Sprintf(`{"reference":%d,"template":%s}`, s.cloud, template))
		defined := s.call(t, "POST", "/templates", fmt.Sprintf(`{"reference":%d,"name":"sale","language":"en_US","category":"MARKETING","components":[
			{"type":"BODY","text":"Sale"},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Look","url":%s}]}]}`, s.cloud, encode(t, target)))
		require.Equal(t, 200, sent.Code, sent.Body.String())
		s.unheard(t, target, strings.ReplaceAll(sent.Body.String()+shown.Body.String(), string(encode(t, target)), ""), defined.Body.String())
	}
}

const inquiring = `{"format":"trunkline-flow/1","kind":"flow",%s,"slug":"asking","name":"Asking","start":"t","nodes":{
	"t":{"type":"trigger","config":{"on":[%s]},"next":{"out":"ask"}},
	"ask":{"type":"http","config":{"url":"{{ %s }}"},"next":{"out":"yes","error":"no"}},
	"yes":{%s},"no":{%s}}}`

// flows make requests whose addresses come from a caller.
func (s *siege) flows(t *testing.T) {
	_, publish := s.project(t)
	flow := publish(fmt.Sprintf(inquiring, `"engine":"aiflow"`, `{"kind":"api"}`, "input.url",
		`"type":"end","config":{"result":"reached"}`, `"type":"end","config":{"result":"{{ error.code }}: {{ error.message }}"}`))
	for _, target := range append(slices.Concat(s.written(), malformed(), s.hidden("http")), s.flip("http"), s.flip("https")) {
		for range 2 {
			run := s.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"url":%s}}`, flow, encode(t, target)))
			require.Contains(t, run["output"], "http.", target)
			said := []string{strings.Trim(string(encode(t, target)), `"`), ""}
			if u, err := url.Parse(target); err == nil {
				said = append(said, u.String(), "")
			}
			whole := s.call(t, "GET", fmt.Sprint("/aiflow/run/", run["id"]), "").Body.String()
			s.unheard(t, target, fmt.Sprint(run["output"]), strings.NewReplacer(said...).Replace(whole))
		}
	}
}

// flowFiles are sent by a flow that a contact talks to.
func (s *siege) flowFiles(t *testing.T) {
	ref := s.sandbox(t)
	_, publish := s.project(t)
	s.client.listen(t, publish(`{"format":"trunkline-flow/1","kind":"flow","slug":"showing","name":"Showing","start":"t","nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"any_message"}]},"next":{"out":"show"}},
		"show":{"type":"message","config":{"kind":"image","media":{"url":"{{ input.text }}"}}}}}`), ref)
	for i, target := range s.some() {
		chat := fmt.Sprintf("c%d", i)
		s.write(t, ref, chat, target)
		s.unheard(t, target, s.missing(t, ref, chat, nil, target))
	}
}

// bots make requests whose addresses come from a contact.
func (s *siege) bots(t *testing.T) {
	ref := s.sandbox(t)
	s.bot(t, ref, fmt.Sprintf(inquiring, `"engine":"botengine"`, `{"kind":"any_message"}`, "input.text",
		`"type":"message","config":{"text":"reached"}`, `"type":"message","config":{"text":"{{ error.code }}: {{ error.message }}"}`))
	for i, target := range s.some() {
		chat := fmt.Sprintf("c%d", i)
		s.write(t, ref, chat, target)
		var texts []string
		s.until(t, func() bool { texts = s.shown(t, ref, chat); return len(texts) == 2 })
		require.Contains(t, texts[1], "in: http.", target)
		s.unheard(t, target, texts[1])
	}
}

// servers are foreign MCP servers.
func (s *siege) servers(t *testing.T) {
	body := func(target string) string { return fmt.Sprintf(`{"name":"inside","url":%s}`, encode(t, target)) }
	for _, target := range slices.Concat(s.written(), malformed(), []string{s.onPort("http://loop.test/")}) {
		s.named(t, target, s.call(t, "POST", "/aiflow/server", body(target)), "body.url")
	}
	for _, target := range append(s.hidden("https"), s.flip("https")) {
		server := fmt.Sprint("/aiflow/server/", s.call(t, "POST", "/aiflow/server", body(target)).json(201)["id"])
		for range 2 {
			a := s.call(t, "POST", server+"/refresh", "")
			a.problem(502, "provider_error")
			s.unheard(t, target, a.Body.String(), s.call(t, "GET", server, "").Body.String())
		}
		for _, inside := range s.some()[:8] {
			s.named(t, inside, s.call(t, "PATCH", server, body(inside)), "body.url")
		}
		s.call(t, "DELETE", server, "").json(200)
	}
}

// tools are those of a foreign MCP server that was allowed once.
func (s *siege) tools(t *testing.T) {
	w := newWorld(t)
	w.tool("stock", true, func() string { return `{"count":1}` })
	w.approveAll(t, s.open, "")
	_, publish := s.project(t)
	flow := publish(`{"format":"trunkline-flow/1","kind":"flow","slug":"stocking","name":"Stocking","start":"t","nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"look"}},
		"look":{"type":"tool","config":{"server":"shop","tool":"stock","arguments":{"sku":"A1"}},"next":{"out":"yes","error":"no"}},
		"yes":{"type":"end","config":{"result":"reached"}},
		"no":{"type":"end","config":{"result":"{{ error.code }}: {{ error.message }}"}}}}`)
	before := len(w.given)
	run := s.start(t, fmt.Sprintf(`{"flowId":%q}`, flow))
	require.Contains(t, run["output"], "private and not allowed")
	s.unheard(t, w.URL, fmt.Sprint(run["output"]))
	require.Len(t, w.given, before)
}

// proxies are how a reference reaches its network.
func (s *siege) proxies(t *testing.T) {
	var targets []string
	for _, target := range append(slices.Concat(s.some(), s.hidden("http")), s.flip("http"), s.flip("socks5")) {
		targets = append(targets, target, strings.Replace(target, "http://", "socks5://", 1))
	}
	body := `{"name":"W","type":"provider-web","settings":{"proxyUrl":%s}}`
	for _, target := range slices.Concat(targets, malformed()) {
		a := s.call(t, "POST", "/reference", fmt.Sprintf(body, encode(t, target)))
		if a.Code == 422 {
			s.named(t, target, a, "body.settings.proxyUrl")
			continue
		}
		ref := int(a.json(201)["id"].(float64))
		started := s.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d,"method":"qr"}`, ref))
		var status answer
		s.until(t, func() bool {
			status = s.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "")
			again := slices.Contains(malformed(), target) || strings.HasSuffix(s.front.URL, strings.Split(target, "/")[2])
			return again || status.json(200)["lastError"] != nil // what may be dialled, and is no proxy, is tried again
		}, target)
		s.unheard(t, target, started.Body.String(), status.Body.String())
		s.call(t, "DELETE", fmt.Sprintf("/reference/%d", ref), "").json(202)
	}
}
