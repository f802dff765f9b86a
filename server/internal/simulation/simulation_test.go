package simulation_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	references = 2
	contacts   = 3                // of each reference
	letters    = 6                // messages of each contact
	sends      = 6                // of each reference
	timeout    = 20 * time.Minute // a message in doubt fails after ten
)

// echo is a flow that answers each text T with "re: T", after two calls. Texts with a q
// are answered by a question, and what answers that as the others.
const echo = `{"format":"trunkline-flow/1","kind":"flow","slug":"echo%d","name":"Echo","start":"begin","nodes":{
	"begin":{"type":"trigger","config":{"on":[{"kind":"any_message"}]},"next":{"out":"once"}},
	"once":{"type":"x.once","config":{"text":"{{ input.text }}"},"next":{"out":"repeat","error":"repeat"}},
	"repeat":{"type":"x.repeat","config":{"text":"{{ input.text }}"},"next":{"out":"which","error":"which"}},
	"which":{"type":"condition","config":{"branches":[{"id":"asks","when":"input.text contains ' q '"}]},"next":{"asks":"ask","else":"say"}},
	"ask":{"type":"question","config":{"prompt":{"text":"re: {{ input.text }}"},"saveTo":"more"},"next":{"out":"thanks"}},
	"thanks":{"type":"message","config":{"text":"re: {{ vars.more }}"}},
	"say":{"type":"message","config":{"text":"re: {{ input.text }}"}}}}`

// TestSimulation runs servers on a virtual clock, once for each seed. It checks that
// nothing that was acknowledged is lost, that nothing is sent twice, that all is in
// order in each chat, and that no work is stuck. SEED=n repeats one, SEEDS=n runs so
// many, from SEED on. A seed decides on the faults; the order in which goroutines run may
// differ.
func TestSimulation(t *testing.T) {
	first, count := uint64(1), uint64(7*testkit.Rounds(3))
	if s := os.Getenv("SEEDS"); s != "" {
		count, _ = strconv.ParseUint(s, 10, 64)
	}
	if s := os.Getenv("SEED"); s != "" {
		first, _ = strconv.ParseUint(s, 10, 64)
		if os.Getenv("SEEDS") == "" {
			count = 1
		}
	}
	for seed := first; seed < first+count; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { simulate(t, seed) })
		})
	}
}

func simulate(t *testing.T, seed uint64) {
	w := newWorld(t, seed)
	w.healed.Store(true)
	var slots sync.WaitGroup
	slots.Go(func() { w.supervise(1) })
	people := w.prepare()
	w.healed.Store(false)
	for n := 2; n <= w.nodes; n++ {
		slots.Go(func() { w.supervise(n) })
	}
	w.alive(w.draw("first")).arm()
	var traffic sync.WaitGroup
	for ref := range references {
		traffic.Go(func() { w.write(ref+1, people[ref+1]) })
		traffic.Go(func() { w.send(ref+1, 0, people[ref+1][0].phone+"@s.whatsapp.net") })
	}
	traffic.Go(w.injectFaults)
	time.AfterFunc(3*time.Minute, func() { w.healed.Store(true) })
	traffic.Wait()
	w.healed.Store(true)
	w.check(people)
	close(w.over)
	slots.Wait()
	w.bury()
	for _, r := range w.receivers {
		r.end()
	}
	if len(w.breaches) > 0 {
		t.Errorf("seed %d:\n%s\n\nwhat happened:\n%s\n\nthe end of the log:\n%s", seed,
			strings.Join(w.breaches, "\n"), strings.Join(w.story, "\n"), strings.Join(w.tail.lines[max(0, len(w.tail.lines)-30):], ""))
	}
}

// prepare makes an account with references, endpoints of webhooks and bots.
func (w *world) prepare() map[int][]contact {
	w.token = w.must("/user/signup", `{"email":"ana@example.org","password":"correct horse","name":"Ana"}`)["token"].(string)
	people := map[int][]contact{}
	for ref, kind := range []string{"provider-repeat", "provider-once"} {
		id := int(w.must("/reference", fmt.Sprintf(`{"name":"Shop","type":%q,"settings":{}}`, kind))["id"].(float64))
		if id != ref+1 {
			w.t.Fatalf("reference %d", id)
		}
		w.networkOf(id).name = kind
		w.must("/reference/session/start", fmt.Sprintf(`{"reference":%d}`, id))
		for n := range references - ref {
			address := fmt.Sprintf("10.%d.%d.%d:80", w.seed>>8&255, w.seed&255, 1+n)
			w.listen(address)
			w.must("/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":"http://%s/"}`, id, address))
		}
		flow := fmt.Sprintf(echo, id)
		bot := w.must("/bot", fmt.Sprintf(`{"reference":%d,"name":"Echo","flow":%s}`, id, flow))
		w.must(fmt.Sprintf("/bot/%s/publish", bot["id"]), "{}")
		for n := range contacts {
			people[id] = append(people[id], contact{phone: fmt.Sprintf("49151%d000%d", id, n), lid: fmt.Sprintf("99901%d000%d", id, n)})
		}
	}
	return people
}

// arm gives a process that was prepared without faults its own.
func (p *process) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.w.draw("arm")
	for range 5 * d.upTo(2) {
		p.lossy[p.commits.Load()+1+d.upTo(200)] = true
	}
	if p.w.kill && d.chance(60) {
		p.killAfter = d.chance(50)
		p.killAt = p.commits.Load() + 1 + d.upTo(150)
	}
}

// merges reports whether a contact is known by two ids at first.
func merges(n int) bool { return n == contacts-1 }

// as returns under which id a contact writes a message.
func as(n, i int) string {
	switch {
	case n == 1:
		return "q"
	case !merges(n) || i%2 == 0 && i < letters/2+1:
		return "p"
	case i < letters/2+1:
		return "l"
	}
	return "w"
}

// write has the contacts of a reference write.
func (w *world) write(ref int, people []contact) {
	var all sync.WaitGroup
	for n, c := range people {
		all.Go(func() {
			for i := range letters {
				if merges(n) && i == 2 {
					all.Go(func() { w.send(ref, n, c.lid+"::single") })
				}
				d := w.draw("write", ref, n, i)
				pause(context.Background(), d.upTo(8000))
				a := c.byPhone()
				switch as(n, i) {
				case "l":
					a = c.byLID()
				case "w":
					a = c.whole()
				}
				text := message(c, as(n, i), i)
				w.networkOf(ref).deliver(text, incoming(a, "in-"+text, text))
			}
		})
	}
	all.Wait()
}

// sentText is the text of a message that a program sends.
func sentText(ref, n, i int) string { return fmt.Sprintf("api %d %d %02d", ref, n, i) }

// sendsTo returns how many messages a program sends to the n-th contact of a reference.
func sendsTo(n int) int {
	switch {
	case n == 0:
		return sends
	case merges(n):
		return sends / 2
	}
	return 0
}

// send has a program send to a contact.
func (w *world) send(ref, n int, to string) {
	for i := range sendsTo(n) {
		d := w.draw("api", ref, n, i)
		pause(context.Background(), d.upTo(8000))
		text := sentText(ref, n, i)
		body := fmt.Sprintf(`{"reference":%d,"chatId":%q,"message":{"type":"text","text":%q}}`, ref, to, text)
		for again := d.chance(40); ; again = false {
			if status, answer := w.request("POST", "/chats/send", body, "Idempotency-Key", strings.ReplaceAll(text, " ", "-")); status != http.StatusOK {
				w.breach("sending %q: %d %v", text, status, answer)
			}
			if !again {
				break
			}
			pause(context.Background(), d.upTo(10000)) // a program that has not got the answer repeats the request
		}
	}
}

// injectFaults breaks what is not broken elsewhere: it stalls and fills databases and sets
// their clock.
func (w *world) injectFaults() {
	d := w.draw("break")
	for range d.upTo(5) {
		pause(context.Background(), d.upTo(15000))
		switch p := w.alive(d); d.upTo(3) {
		case 0:
			wait := time.Duration(1+d.upTo(60)) * time.Second
			w.logf("%v does not reach its database for %s", p, wait)
			p.stall(wait)
		case 1:
			wait := time.Duration(1+d.upTo(20)) * time.Second
			w.logf("the disk of %v is full for %s", p, wait)
			p.fill(wait, d.chance(50))
		case 2:
			// Forward it is set by less than the ten minutes after which the events of a
			// chat pass one that is refused.
			w.setClock(time.Duration(d.upTo(3720)-3600) * time.Second)
		}
	}
}

// setClock sets the clock of the database, if its time was noted a moment ago. Else a
// process sees the step by its own clock, which has none here.
func (w *world) setClock(step time.Duration) {
	var noted int64
	err := w.base.GetContext(context.Background(), &noted, `SELECT COALESCE(max(seen_us), 0) FROM clock_mark`)
	if err == nil && time.Since(time.UnixMicro(noted)) < 6*time.Second {
		w.logf("the clock is set by %s", step)
		err = testkit.StepClock(context.Background(), w.base, step)
	}
	if err != nil {
		w.breach("setting the clock: %v", err)
	}
}
