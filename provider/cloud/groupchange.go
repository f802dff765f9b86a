package cloud

import (
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// groups reads changes of groups: created and deleted, joined and left,
// renamed, suspended.
func (r *reader) groups(kind string) {
	r.each("groups", func(item graph.Value) {
		id := item.Get("group_id").ID()
		g := &provider.GroupChange{
			Raw:         r.Itself(kind, item),
			What:        item.Get("type").Text(),
			Chat:        group(id),
			At:          item.Get("timestamp").Time(),
			Subject:     endState(item, "group_subject", "subject"),
			Description: endState(item, "group_description", "description"),
			Invite:      item.Get("invite_link").Text(),
			Joined:      participants(item.Get("added_participants")),
			Left:        participants(item.Get("removed_participants")),
			RequestID:   item.Get("request_id").ID(),
			Error:       groupFailure(item),
		}
		if id == "" || !reachable(g.Chat) {
			r.Report(&g.Raw)
			return
		}
		r.Report(g)
	})
}

// endState returns a text that may be inside of an object, which says whether
// the request succeeded.
func endState(item graph.Value, object, plain string) string {
	v := item.Get(object)
	if !v.Object() {
		return item.Get(plain).Text()
	}
	if ok := v.Get("update_successful"); ok != nil && !ok.Flag() {
		return ""
	}
	return v.Get("text").Text()
}

// groupFailure returns the error of a request, which may be next to it or
// inside of it.
func groupFailure(item graph.Value) *provider.Failure {
	if f := failure(item.Get("errors")); f != nil {
		return f
	}
	for _, name := range []string{"group_subject", "group_description", "profile_picture"} {
		if f := failure(item.Get(name).Get("errors")); f != nil {
			return f
		}
	}
	for p := range item.Get("failed_participants").Items() {
		if f := failure(p.Get("errors")); f != nil {
			return f
		}
	}
	return nil
}

func participants(array graph.Value) []provider.Contact {
	var people []provider.Contact
	for p := range array.Items() {
		c := provider.Contact{
			Address:  person(p.Get("user_id").ID(), p.Get("wa_id").ID(), p.Get("input").ID()),
			Username: p.Get("username").Text(),
		}
		if reachable(c.Address) {
			people = append(people, c)
		}
	}
	return people
}
