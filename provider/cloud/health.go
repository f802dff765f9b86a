package cloud

import (
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// health starts a report on the reference or account from the change's value.
func (r *reader) health(kind string) *provider.Health {
	return &provider.Health{
		Raw:   r.Itself(kind, r.value),
		Phone: number(r.value.Get("display_phone_number").ID()),
		At:    r.At.Time(),
	}
}

// number returns the digits of a number.
func number(s string) string {
	return strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, s)
}

// accountLevels are the levels of events of an account. Others are news.
var accountLevels = map[string]provider.HealthLevel{
	"ACCOUNT_DELETED":         provider.HealthStopped,
	"ACCOUNT_OFFBOARDED":      provider.HealthStopped,
	"PARTNER_REMOVED":         provider.HealthStopped,
	"PARTNER_APP_UNINSTALLED": provider.HealthStopped,
	"ACCOUNT_RESTRICTION":     provider.HealthWarning,
	"ACCOUNT_VIOLATION":       provider.HealthWarning,
	"ACCOUNT_RECONNECTED":     provider.HealthGood,
}

// accountCodes are the codes of events of an account.
var accountCodes = map[string]provider.HealthCode{
	"ACCOUNT_DELETED":         provider.HealthBanned,
	"DISABLED_UPDATE":         provider.HealthBanned,
	"ACCOUNT_VIOLATION":       provider.HealthBanned,
	"ACCOUNT_RESTRICTION":     provider.HealthLimited,
	"ACCOUNT_OFFBOARDED":      provider.HealthLoggedOut,
	"PARTNER_REMOVED":         provider.HealthLoggedOut,
	"PARTNER_APP_UNINSTALLED": provider.HealthLoggedOut,
}

// banLevels are the levels of the states of a ban.
var banLevels = map[string]provider.HealthLevel{
	"SCHEDULE_FOR_DISABLE": provider.HealthWarning,
	"DISABLE":              provider.HealthStopped,
	"REINSTATE":            provider.HealthGood,
}

func (r *reader) account(kind string) {
	v, h := r.value, r.health(kind)
	h.Phone = first(h.Phone, number(v.Get("phone_number").ID()))
	h.State = v.Get("event").Text()
	h.Level = accountLevels[h.State]
	ban := v.Get("ban_info")
	if h.State == "DISABLED_UPDATE" {
		h.Level = banLevels[ban.Get("waba_ban_state").Text()]
	}
	if h.Level >= provider.HealthWarning {
		h.Code = accountCodes[h.State]
	}
	details := []string{
		ban.Get("waba_ban_state").Text(), ban.Get("waba_ban_date").Text(),
		v.Get("violation_info").Get("violation_type").Text(), v.Get("disconnection_info").Get("reason").Text(),
	}
	for restriction := range v.Get("restriction_info").Items() {
		details = append(details, restriction.Get("restriction_type").Text())
	}
	h.Detail = listed(details)
	r.Report(h)
}

// listed joins the strings that are not empty.
func listed(words []string) string {
	var b strings.Builder
	for _, w := range words {
		if w != "" && b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(w)
	}
	return b.String()
}

// decisions are the levels of the decisions of a review. Others are news.
var decisions = map[string]provider.HealthLevel{
	"APPROVED": provider.HealthGood,
	"REJECTED": provider.HealthWarning,
	"DECLINED": provider.HealthWarning,
}

func (r *reader) review(kind string) {
	h := r.health(kind)
	h.State = r.value.Get("decision").Text()
	h.Level = decisions[h.State]
	h.Detail = r.value.Get("rejection_reason").Text()
	r.Report(h)
}

func (r *reader) phoneName(kind string) {
	h := r.health(kind)
	h.State = r.value.Get("decision").Text()
	h.Level = decisions[h.State]
	h.Name = r.value.Get("requested_verified_name").Text()
	h.Detail = r.value.Get("rejection_reason").Text()
	r.Report(h)
}

// qualities are the levels of events of a number's quality. Others are news.
var qualities = map[string]provider.HealthLevel{
	"FLAGGED":   provider.HealthWarning,
	"DOWNGRADE": provider.HealthWarning,
	"UNFLAGGED": provider.HealthGood,
	"UPGRADE":   provider.HealthGood,
}

func (r *reader) phoneQuality(kind string) {
	h := r.health(kind)
	h.State = r.value.Get("event").Text()
	if h.Level = qualities[h.State]; h.Level == provider.HealthWarning {
		h.Code = provider.HealthLimited
	}
	h.Limit = first(r.value.Get("current_limit").ID(), r.limit())
	r.Report(h)
}

func (r *reader) capability(kind string) {
	h := r.health(kind)
	h.Limit = r.limit()
	r.Report(h)
}

// limit returns how many people may be written to in a day. The network uses
// several fields for it, with a number or a word.
func (r *reader) limit() string {
	return first(r.value.Get("max_daily_conversations_per_business").ID(), r.value.Get("max_daily_conversation_per_phone").ID())
}

func (r *reader) username(kind string) {
	h := r.health(kind)
	h.State, h.Name = r.value.Get("status").Text(), r.value.Get("username").Text()
	r.Report(h)
}

func (r *reader) security(kind string) {
	h := r.health(kind)
	h.State, h.Detail = r.value.Get("event").Text(), r.value.Get("requester").ID()
	r.Report(h)
}

// issue reports an error of the reference, or of a call, which has no id.
func (r *reader) issue(level provider.HealthLevel, item graph.Value) {
	r.Report(&provider.Health{Raw: r.Itself("error", item), Level: level, At: r.At.Time(), Error: readFailure(item)})
}
