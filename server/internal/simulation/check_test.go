package simulation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// check checks the promises when all faults are over.
func (w *world) check(people map[int][]contact) {
	begin := time.Now()
	for left := w.left(people); left != ""; left = w.left(people) {
		if time.Since(begin) > timeout {
			w.breach("this is not done after %s: %s", timeout, left)
			break
		}
		rest(15 * time.Second)
	}
	w.logf("all is done %s after the last fault", time.Since(begin))
	rest(30 * time.Second) // what comes twice would come now
	for text, times := range w.once {
		if times > 1 {
			w.breach("a call that must not be repeated was made %d times: %q", times, text)
		}
	}
	for ref := 1; ref <= references; ref++ {
		w.checkNetwork(ref, people[ref])
		for _, r := range w.receivers {
			if ref == 1 || r == w.receivers[0] {
				w.checkReceiver(r, ref, people[ref])
			}
		}
	}
}

// left returns what is not done yet, or "".
func (w *world) left(people map[int][]contact) string {
	var jobs int
	if err := w.base.GetContext(context.Background(), &jobs, `SELECT count(*) FROM queue_job`); err != nil {
		return err.Error()
	}
	if jobs > 0 {
		return fmt.Sprintf("%d jobs", jobs)
	}
	for ref := 1; ref <= references; ref++ {
		for n, c := range people[ref] {
			had, _ := w.history(ref, c)
			for _, want := range expected(ref, n, c) {
				at := slices.IndexFunc(had, func(r record) bool { return r.text() == want })
				if at < 0 {
					return fmt.Sprintf("%q is not in the history", want)
				}
				if had[at].Status == "PENDING" {
					return fmt.Sprintf("%q is pending", want)
				}
			}
		}
	}
	return ""
}

// expected are the texts in the chats of the n-th contact of a reference.
func expected(ref, n int, c contact) (texts []string) {
	for i := range letters {
		text := message(c, as(n, i), i)
		texts = append(texts, text, "re: "+text)
	}
	for i := range sendsTo(n) {
		texts = append(texts, sentText(ref, n, i))
	}
	return texts
}

// parts are the texts that a contact wrote, those of the bot and those of a program.
func parts(ref, n int, c contact) (wrote, replies, sent []string) {
	for _, text := range expected(ref, n, c) {
		switch {
		case strings.HasPrefix(text, "re: "):
			replies = append(replies, text)
		case strings.HasPrefix(text, "api "):
			sent = append(sent, text)
		default:
			wrote = append(wrote, text)
		}
	}
	return wrote, replies, sent
}

// record is a message in the history.
type record struct {
	Mine    bool
	Status  string
	Text    string
	Message struct{ Text string }
}

func (r record) text() string {
	if r.Text == "" {
		return r.Message.Text
	}
	return r.Text
}

// history is the history of the chats of a contact; same: they have become one.
func (w *world) history(ref int, c contact) (out []record, same bool) {
	seen := map[string]bool{}
	for _, id := range []string{c.phone + "@s.whatsapp.net", c.lid + "@lid"} {
		status, page := w.request("GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=200", ref, id), "")
		if status == 404 {
			continue
		}
		raw, _ := json.Marshal(page["items"])
		if seen[string(raw)] {
			same = true
			continue
		}
		seen[string(raw)] = true
		var items []record
		if err := json.Unmarshal(raw, &items); err != nil {
			w.breach("the history of %s: %v", id, err)
		}
		slices.Reverse(items)
		out = append(out, items...)
	}
	return out, same
}

// count returns how often a text is in a list.
func count(list []string, text string) (n int) {
	for _, s := range list {
		if s == text {
			n++
		}
	}
	return n
}

// checkNetwork checks what the contacts of a reference were shown, and the history.
func (w *world) checkNetwork(ref int, people []contact) {
	n := w.networkOf(ref)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, text := range n.twice {
		w.breach("%s: %q was shown twice", n.name, text)
	}
	for k, c := range people {
		shown := slices.Concat(n.shown[c.phone+"@s.whatsapp.net"], n.shown[c.lid+"@lid"])
		had, same := w.history(ref, c)
		var texts []string
		for _, r := range had {
			texts = append(texts, r.text())
		}
		if merges(k) && !same {
			w.breach("%s: the chats of %s did not become one", n.name, c.phone)
		}
		if len(had) != len(expected(ref, k, c)) {
			w.breach("%s: %d messages of %s instead of %d", n.name, len(had), c.phone, len(expected(ref, k, c)))
		}
		for _, text := range expected(ref, k, c) {
			at := slices.IndexFunc(had, func(r record) bool { return r.text() == text })
			if at < 0 || count(texts, text) != 1 {
				w.breach("%s: %q is %d times in the history", n.name, text, count(texts, text))
				continue
			}
			if !had[at].Mine || had[at].Status == "FAIL" && n.name == "provider-once" && n.uncertain(text) {
				continue // it may have been shown, and is not repeated for that reason
			}
			if times := count(shown, text); times != 1 || had[at].Status == "FAIL" {
				w.breach("%s: %q is %s and was shown %d times in %d attempts", n.name, text, had[at].Status, times, n.attempts[text])
			}
		}
		wrote, replies, sent := parts(ref, k, c)
		for _, list := range [][]string{n.shown[c.phone+"@s.whatsapp.net"], n.shown[c.lid+"@lid"]} {
			w.inOrder(n.name+" shows", list, replies)
			w.inOrder(n.name+" shows", list, sent)
		}
		if !merges(k) {
			w.inOrder(n.name+": the history", texts, wrote)
		}
	}
}

// inOrder checks that the texts in a list that are among those of want have the order
// of want. Texts that a contact wrote under different ids have none, unless one of them
// has both.
func (w *world) inOrder(where string, list, want []string) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			x, y := slices.Index(want, a), slices.Index(want, b)
			if x >= 0 && y >= 0 && y < x && ordered(a, b) {
				w.breach("%s %q before %q", where, a, b)
			}
		}
	}
}

// ordered reports whether two texts have an order.
func ordered(a, b string) bool {
	id := func(s string) string {
		for _, kind := range []string{"p", "l"} { // of a text in which neither is: ""
			if strings.Contains(s, " "+kind+" ") {
				return kind
			}
		}
		return ""
	}
	return id(a) == id(b) || id(a) == "" || id(b) == ""
}

// checkReceiver checks what a receiver got of a reference.
func (w *world) checkReceiver(r *receiver, ref int, people []contact) {
	in, out := r.texts(ref, "in", ""), r.texts(ref, "out", "")
	for k, c := range people {
		wrote, replies, sent := parts(ref, k, c)
		for _, text := range wrote {
			if n := count(in, text); n != 1 {
				w.breach("%s got %d webhooks of %q", r.address, n, text)
			}
		}
		for _, text := range slices.Concat(replies, sent) {
			if n := count(out, text); n != 1 {
				w.breach("%s got %d webhooks of %q", r.address, n, text)
			}
		}
		w.inOrder(r.address+" got", in, wrote)
		w.inOrder(r.address+" got", r.texts(ref, "out", "FAIL"), replies) // whether one failed may be known only later
	}
	last := map[string]int64{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, p := range r.repeated {
		if !p.mayRepeat() {
			w.breach("%s got %s again although %v had its answer", r.address, id, p)
		}
	}
	for _, a := range r.got {
		w.logf("%s %s %s #%d %q %s", r.address, a.at.Format("15:04:05.000"), a.chat, a.sequence, a.text, a.kind+a.status)
		if a.reference != ref || slices.ContainsFunc(people, func(c contact) bool {
			return a.chat == people[contacts-1].phone+"@s.whatsapp.net" || strings.HasSuffix(a.chat, "@lid")
		}) {
			continue
		}
		if a.sequence != last[a.chat]+1 {
			w.breach("%s got event %d of %s after %d", r.address, a.sequence, a.chat, last[a.chat])
		}
		last[a.chat] = a.sequence
	}
}
