package cloud

import (
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// template reads a change of a message template: of its status, quality,
// category or components.
func (r *reader) template(kind string) {
	v := r.value
	t := &provider.TemplateChange{
		Raw:        r.Itself(kind, v),
		TemplateID: v.Get("message_template_id").ID(),
		Name:       v.Get("message_template_name").Text(),
		Language:   v.Get("message_template_language").Text(),
		At:         r.At.Time(),
	}
	if t.TemplateID == "" && t.Name == "" {
		r.Report(&t.Raw)
		return
	}
	switch kind {
	case "template_status":
		t.Status, t.Category = v.Get("event").Text(), v.Get("message_template_category").Text()
		t.Reason, t.Advice = templateReason(v)
	case "template_quality":
		t.Quality = v.Get("new_quality_score").Text()
	case "template_category":
		t.Category = v.Get("new_category").Text()
	case "template_components":
		t.Text = v.Get("message_template_element").Text()
	}
	r.Report(t)
}

// templateReason is why a template has its status, and what to do about it.
func templateReason(v graph.Value) (reason, advice string) {
	if reason = v.Get("reason").Text(); reason == "NONE" {
		reason = ""
	}
	info, other := v.Get("rejection_info"), v.Get("other_info")
	reason = first(reason, other.Get("title").Text())
	advice = first(info.Get("reason").Text(), other.Get("description").Text())
	if what := info.Get("recommendation").Text(); what != "" {
		advice = joined(advice, what)
	}
	return reason, advice
}

// joined makes a text of two sentences of which either may be missing.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
