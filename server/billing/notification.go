package billing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/text"
)

// kind is the kind of object in a notification.
type kind int

const (
	other kind = iota
	aboutSubscription
	aboutInvoice
)

// notification is the part of Stripe's Event that this package reads.
type notification struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Type    string `json:"type"`
	Created int64  `json:"created"` // UNIX seconds
	Data    struct {
		Object object `json:"object"`
	} `json:"data"`

	kind                            kind
	account, customer, subscription string
	body                            string
}

// object is the part of a Subscription or an Invoice that this package reads, in
// this and earlier versions of Stripe's API.
type object struct {
	ID       label             `json:"id"`
	Customer label             `json:"customer"`
	Status   label             `json:"status"`
	Metadata map[string]string `json:"metadata"`

	// Of subscriptions.
	CurrentPeriodEnd int64 `json:"current_period_end"`
	Items            struct {
		Data []item `json:"data"`
	} `json:"items"`

	// Of invoices.
	Subscription label   `json:"subscription"`
	Details      details `json:"subscription_details"`
	Parent       struct {
		Details details `json:"subscription_details"`
	} `json:"parent"`
	Lines struct {
		Data []line `json:"data"`
	} `json:"lines"`
}

type details struct {
	Subscription label             `json:"subscription"`
	Metadata     map[string]string `json:"metadata"`
}

type item struct {
	Price            price `json:"price"`
	Plan             price `json:"plan"`
	CurrentPeriodEnd int64 `json:"current_period_end"`
}

type line struct {
	Period struct {
		End int64 `json:"end"`
	} `json:"period"`
}

type price struct {
	ID        label `json:"id"`
	LookupKey label `json:"lookup_key"`
	Nickname  label `json:"nickname"`
}

// label is a string, or the id of an expanded object; null is "".
type label string

func (t *label) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		var o struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(b, &o)
		*t = label(text.Sanitize(o.ID))
		return err
	}
	var s string
	err := json.Unmarshal(b, &s)
	*t = label(text.Sanitize(s))
	return err
}

// parse parses a notification. It returns [ErrMalformed] if that is not possible.
func parse(body []byte) (notification, error) {
	var n notification
	head := struct{ ID, Object, Type string }{}
	if json.Unmarshal(body, &head) != nil || head.Object != "event" || head.ID == "" {
		return n, ErrMalformed
	}
	switch {
	case strings.HasPrefix(head.Type, "customer.subscription."):
		n.kind = aboutSubscription
	case strings.HasPrefix(head.Type, "invoice."):
		n.kind = aboutInvoice
	default:
		return n, nil
	}
	if json.Unmarshal(body, &n) != nil || n.Created <= 0 {
		return n, ErrMalformed
	}
	n.ID, n.body = text.Sanitize(n.ID), text.Sanitize(string(body))
	n.about(&n.Data.Object)
	return n, nil
}

// about fills in the subject of a notification. An invoice repeats the metadata of
// its subscription.
func (n *notification) about(o *object) {
	n.customer, n.account, n.subscription = string(o.Customer), o.Metadata[metadataAccount], string(o.ID)
	if n.kind == aboutInvoice {
		n.account = cmp.Or(o.Parent.Details.Metadata[metadataAccount], o.Details.Metadata[metadataAccount], n.account)
		n.subscription = string(cmp.Or(o.Parent.Details.Subscription, o.Details.Subscription, o.Subscription))
	}
	n.account = text.Sanitize(n.account)
}

// metadataAccount and metadataPlan are the metadata of a subscription with its
// account and the name of its plan.
const (
	metadataAccount = "account"
	metadataPlan    = "plan"
)

// at returns the time of the event, in microseconds.
func (n *notification) at() int64 { return n.Created * 1e6 }

// rank orders events of the same second, which is the resolution of Stripe's clock.
func (n *notification) rank() int64 {
	switch {
	case n.Type == "customer.subscription.created":
		return 1
	case n.kind == aboutInvoice:
		return 2
	case n.Type == "customer.subscription.deleted":
		return 4
	}
	return 3
}

// after returns the row after a notification; says is false if the notification
// does not change it.
func (n *notification) after(was *row) (now row, says bool) {
	now = *was
	other := was.Subscription != "" && n.subscription != was.Subscription
	if n.kind == aboutInvoice {
		return n.afterInvoice(now, other)
	}
	o := &n.Data.Object
	if other && ended(string(o.Status)) {
		return now, false // the end of a subscription that was replaced
	}
	now.Subscription, now.Status, now.Plan = n.subscription, string(o.Status), o.plan()
	now.EndUS = o.end() * 1e6
	return now, true
}

// afterInvoice returns the row after an invoice event: the event of the
// subscription itself may come later or be lost.
func (n *notification) afterInvoice(now row, other bool) (row, bool) {
	if n.subscription == "" || other || ended(now.Status) {
		return now, false
	}
	switch n.Type {
	case "invoice.paid", "invoice.payment_succeeded":
		if slices.Contains([]string{"", "past_due", "unpaid", "incomplete"}, now.Status) {
			now.Status = "active"
		}
		for _, l := range n.Data.Object.Lines.Data {
			now.EndUS = max(now.EndUS, l.Period.End*1e6)
		}
	case "invoice.payment_failed":
		if slices.Contains([]string{"", "active", "trialing"}, now.Status) {
			now.Status = "past_due"
		}
	default:
		return now, false
	}
	now.Subscription = n.subscription
	return now, true
}

// ended reports whether a subscription with this status never becomes active again.
func ended(status string) bool { return status == "canceled" || status == "incomplete_expired" }

// plan returns the name of the plan: the metadata plan, else the first price's
// lookup key, nickname or id.
func (o *object) plan() string {
	if p := o.Metadata[metadataPlan]; p != "" {
		return text.Sanitize(p)
	}
	for _, i := range o.Items.Data {
		return string(cmp.Or(i.Price.LookupKey, i.Price.Nickname, i.Plan.Nickname, i.Price.ID, i.Plan.ID))
	}
	return ""
}

// end returns the end of the current period, in UNIX seconds; 0: unknown.
func (o *object) end() int64 {
	end := o.CurrentPeriodEnd
	for _, i := range o.Items.Data {
		end = max(end, i.CurrentPeriodEnd)
	}
	return end
}
