package server_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// onNodes runs fn for each dialect with a user of two servers on one database.
func onNodes(t *testing.T, fn func(t *testing.T, nodes [2]client)) {
	t.Helper()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		first := working(t, setupOn(t, db, nil))
		if !strings.HasPrefix(url, "sqlite") { // which belongs to one process
			db = testkit.Open(t, url)
		}
		second := working(t, setupOn(t, db, nil))
		first.elsewhere, second.elsewhere = []*testsignal.Signal{second.Commits()}, []*testsignal.Signal{first.Commits()}
		ana := first.as(t, "ana")
		fn(t, [2]client{ana, {second, ana.token}})
	})
}

// botNodes is a reference of two nodes on which bots and flows come and go.
type botNodes struct {
	nodes [2]client
	ref   int
	made  int
	asked int // requests to a node: they go to the nodes in turn
}

// next is the node that gets the next request.
func (n *botNodes) next() client {
	n.asked++
	return n.nodes[n.asked%2]
}

// answerer is a bot or a flow that answers each message with its name.
type answerer struct {
	n        *botNodes
	name, id string
	flow     bool
	document string
}

// bot makes a bot that is not published.
func (n *botNodes) bot(t *testing.T) *answerer {
	t.Helper()
	n.made++
	a := &answerer{n: n, name: fmt.Sprintf("bot%d", n.made)}
	a.document = echoFlow(a.name, onAnything)
	a.id = n.next().call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":%q,"flow":%s}`, n.ref, a.name, a.document)).json(201)["id"].(string)
	return a
}

// boundless publishes a flow that is bound to no reference.
func (n *botNodes) boundless(t *testing.T, project string) *answerer {
	t.Helper()
	n.made++
	a := &answerer{n: n, name: fmt.Sprintf("flow%d", n.made), flow: true}
	a.document = echoFlow(a.name, onAnything)
	node := n.next()
	a.id = node.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":%q,"draft":%s}`, project, a.name, a.document)).json(201)["id"].(string)
	node.call(t, "POST", "/aiflow/flow/"+a.id+"/publish", "").json(200)
	return a
}

func (a *answerer) publish(t *testing.T) {
	t.Helper()
	a.n.next().call(t, "POST", "/bot/"+a.id+"/publish", "").json(200)
}

// listen switches a bot on or off, and binds or unbinds a flow.
func (a *answerer) listen(t *testing.T, on bool) {
	t.Helper()
	if a.flow {
		a.n.next().call(t, "PUT", "/aiflow/flow/"+a.id+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":%v}`, a.n.ref, on)).json(200)
		return
	}
	a.n.next().call(t, "PATCH", "/bot/"+a.id, fmt.Sprintf(`{"active":%v}`, on)).json(200)
}

func (a *answerer) remove(t *testing.T) {
	t.Helper()
	path := "/bot/"
	if a.flow {
		path = "/aiflow/flow/"
	}
	a.n.next().call(t, "DELETE", path+a.id, "").json(200)
}

// says is the answer, as the contact's phone shows it.
func (a *answerer) says() string { return "in: " + a.answer() }

// TestBotsOnNodes switches bots and flows on and off while contacts write to
// another node: each message that is stored after the answer of such a request
// is answered by what listens then. ROUNDS says how often.
func TestBotsOnNodes(t *testing.T) {
	t.Parallel()
	onNodes(t, func(t *testing.T, nodes [2]client) {
		n := &botNodes{nodes: nodes, ref: nodes[0].sandbox(t)}
		project := nodes[0].call(t, "POST", "/aiflow/project", `{"name":"Shop"}`).json(201)["id"].(string)
		answers := 0
		rounds := testkit.Rounds(3)
		for round := range rounds {
			n.switched(t, round, project)
			answers += n.handedOver(t, round, project)
		}
		t.Logf("promise: no message is lost to a bot, none is answered by what was deleted: %d rounds, %d answers among changes", rounds, answers)
	})
}

// switched has a contact write after each change of the only one who listens.
func (n *botNodes) switched(t *testing.T, round int, project string) {
	t.Helper()
	contact := fmt.Sprintf("quiet%d", round)
	bot, flow := n.bot(t), n.boundless(t, project)
	var want []string
	write := func(by *answerer) {
		t.Helper()
		text := fmt.Sprintf("m%d", len(want))
		want = append(want, "out: "+text)
		n.next().write(t, n.ref, contact, text)
		if by != nil {
			want = append(want, by.says())
			n.nodes[0].awaitShown(t, n.ref, contact, want...)
		}
		// Requests go to the nodes in turn: the next change is made on the other node.
		n.asked++
	}
	write(nil)
	bot.publish(t)
	write(bot)
	bot.listen(t, false)
	write(nil)
	bot.listen(t, true)
	write(bot)
	bot.remove(t)
	write(nil)
	flow.listen(t, true)
	write(flow)
	flow.listen(t, false)
	write(nil)
	flow.listen(t, true)
	write(flow)
	flow.remove(t)
	write(nil)
	last := n.bot(t)
	last.publish(t)
	write(last)
	last.remove(t)
}

// moment orders what happened.
type moment = int64

// handover says from when on answerers do not listen any more.
type handover struct {
	clock atomic.Int64
	mu    sync.Mutex
	ended map[string]moment // by what they say: when the request that switched them off was answered
}

// off switches an answerer off.
func (h *handover) off(a *answerer, change func()) {
	change()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended[a.says()] = h.clock.Add(1)
}

// handedOver has contacts write to both nodes while those who listen change: the
// next one begins before the last one ends, so each message is answered, once,
// and not by one who had ended before.
func (n *botNodes) handedOver(t *testing.T, round int, project string) int {
	t.Helper()
	h := &handover{ended: map[string]moment{}}
	flow := n.boundless(t, project)
	flow.listen(t, true)

	done := make(chan struct{})
	var wg sync.WaitGroup
	written := [2]map[string]moment{{}, {}} // by contact
	for i, node := range n.nodes {
		wg.Go(func() {
			for m := 0; ; m++ {
				select {
				case <-done:
					return
				default:
				}
				contact := fmt.Sprintf("racer%d-%d-%d", round, i, m)
				written[i][contact] = h.clock.Add(1)
				node.write(t, n.ref, contact, "hello")
			}
		})
	}
	one, two := n.bot(t), n.bot(t)
	one.publish(t)
	h.off(flow, func() { flow.listen(t, false) })
	two.publish(t)
	h.off(one, func() { one.remove(t) })
	other := n.boundless(t, project)
	other.listen(t, true)
	h.off(two, func() { two.listen(t, false) })
	three := n.bot(t)
	three.publish(t)
	h.off(other, func() { other.remove(t) })
	close(done)
	wg.Wait()

	answered := 0
	for i := range written {
		for contact, at := range written[i] {
			var shown []string
			n.nodes[i].until(t, func() bool {
				shown = n.nodes[i].shown(t, n.ref, contact)
				return len(shown) > 1
			}, "a message was lost")
			require.Len(t, shown, 2, "%v", shown)
			ended, off := h.ended[shown[1]]
			require.False(t, off && ended < at, "%s had been switched off before the message was written", shown[1])
			answered++
		}
	}
	two.remove(t)
	three.remove(t)
	flow.remove(t)
	return answered
}

// TestSubscribersOnNodes registers an endpoint and switches extractors while
// contacts write to another node: what is stored after the answer of such a
// request is delivered and read by what there is then.
func TestSubscribersOnNodes(t *testing.T) {
	t.Parallel()
	onNodes(t, func(t *testing.T, nodes [2]client) {
		here, there := nodes[0], nodes[1]
		ref := here.sandbox(t)
		there.write(t, ref, "eve", "before a1")
		here.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message","data"]}`, ref, echoURL)).json(201)
		n := &botNodes{nodes: nodes, ref: ref}
		bot := n.bot(t)
		extractor := here.call(t, "POST", "/extractor", fmt.Sprintf(
			`{"name":"order","kind":"regex","scope":{"bot":%q},"config":{"pattern":"(?P<order>a[0-9])"}}`, bot.id)).json(201)["id"].(string)
		there.write(t, ref, "eve", "draft a2")
		here.call(t, "POST", "/bot/"+bot.id+"/publish", "").json(200)
		there.write(t, ref, "eve", "published a3")
		here.awaitShown(t, ref, "eve", "out: before a1", "out: draft a2", "out: published a3", bot.says())
		here.call(t, "PATCH", "/extractor/"+extractor, `{"enabled":false}`).json(200)
		there.write(t, ref, "eve", "disabled a4")
		here.awaitShown(t, ref, "eve", "out: before a1", "out: draft a2", "out: published a3", bot.says(), "out: disabled a4", bot.says())
		here.call(t, "PATCH", "/extractor/"+extractor, `{"enabled":true}`).json(200)
		here.call(t, "PATCH", "/bot/"+bot.id, `{"active":false}`).json(200)
		there.write(t, ref, "eve", "inactive a5")
		here.call(t, "PATCH", "/bot/"+bot.id, `{"active":true}`).json(200)
		there.write(t, ref, "eve", "active a6")
		want := []string{
			"message draft a2", "message published a3", "data a3", "message " + bot.answer(), "message disabled a4", "message " + bot.answer(),
			"message inactive a5", "message active a6", "data a6", "message " + bot.answer(),
		}
		var got []string
		here.until(t, func() bool {
			got = append(here.echoed(t, ref), there.echoed(t, ref)...)
			return len(got) >= len(want)
		})
		require.ElementsMatch(t, want, got)
	})
}

// answer is the text of the answer.
func (a *answerer) answer() string { return "I am " + a.name + "." }

// echoed are the messages and the orders that a node delivered to the built-in
// receiver.
func (c client) echoed(t *testing.T, ref int) []string {
	t.Helper()
	var out []string
	for _, it := range c.call(t, "GET", fmt.Sprintf("/sandbox/%d/echo", ref), "").json(200)["items"].([]any) {
		body := it.(map[string]any)["body"].(map[string]any)
		if values, found := body["values"].(map[string]any); found {
			out = append(out, fmt.Sprint("data ", values["order"]))
		} else {
			out = append(out, fmt.Sprint("message ", body["text"]))
		}
	}
	return out
}
