package cloud

import (
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// calls reads the steps of calls. Several events have the same id.
func (r *reader) calls(string) {
	r.people = readPeople(r.value.Get("contacts"))
	r.each("calls", r.call)
	r.each("statuses", r.callStatus)
	r.each("errors", func(item graph.Value) { r.issue(provider.HealthNews, item) })
}

// callID returns an id that differs for each step of a call.
func callID(kind string, item graph.Value) string {
	return strings.Join([]string{kind, item.Get("id").ID(), item.Get("event").Text(), item.Get("status").Text()}, ":")
}

// call reads the start or the end of a call.
func (r *reader) call(item graph.Value) {
	const kind = "call"
	c := &provider.Call{
		Raw:      r.Itself(kind, item),
		CallID:   item.Get("id").ID(),
		Mine:     item.Get("direction").Text() == "BUSINESS_INITIATED",
		Status:   callEnd(item),
		At:       item.Get("timestamp").Time(),
		Duration: time.Duration(min(max(item.Get("duration").Int(), 0), maxCall)) * time.Second,
	}
	from, to := item.Get("from").ID(), item.Get("to").ID()
	if c.Mine {
		c.From.Address, c.Chat = person("", from), person(item.Get("to_user_id").ID(), to)
	} else {
		c.From = r.people.sender(item.Get("from_user_id").ID(), from)
		c.Chat = c.From.Address
	}
	r.reportCall(c, item)
}

// maxCall limits the duration of a call in seconds. Longer ones are errors.
const maxCall = 30 * 24 * 60 * 60

// callEnd returns the status of a call's event; "" if it is unknown.
func callEnd(item graph.Value) provider.CallStatus {
	switch item.Get("event").Text() {
	case "connect":
		return provider.CallRinging
	case "terminate":
		if item.Get("duration").Int() > 0 || !item.Get("start_time").Time().IsZero() {
			return provider.CallEnded
		}
		return provider.CallMissed
	}
	return ""
}

var callStatuses = map[string]provider.CallStatus{
	"RINGING":  provider.CallRinging,
	"ACCEPTED": provider.CallAccepted,
	"REJECTED": provider.CallRejected,
}

// callStatus reads how the contact answers a call of the account.
func (r *reader) callStatus(item graph.Value) {
	const kind = "call_status"
	r.reportCall(&provider.Call{
		Raw:    r.Itself(kind, item),
		CallID: item.Get("id").ID(),
		Mine:   true,
		Chat:   recipient(item),
		Status: callStatuses[strings.ToUpper(item.Get("status").Text())],
		At:     item.Get("timestamp").Time(),
	}, item)
}

// reportCall reports a call if its chat and its status are known.
func (r *reader) reportCall(c *provider.Call, item graph.Value) {
	if c.CallID != "" {
		c.ID = callID(c.Kind, item)
	}
	if c.CallID == "" || c.Status == "" || !reachable(c.Chat) {
		r.Report(&c.Raw)
		return
	}
	r.Report(c)
}

// reachable reports whether an address names a person.
func reachable(a provider.Address) bool { return a.ChatID != "" && len(a.ChatID) <= maxName }
