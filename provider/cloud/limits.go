package cloud

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
)

// Meta's limits, in characters where nothing else is said.
// https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
const (
	maxText        = 4096
	maxCaption     = 1024
	maxCallback    = 512 // of biz_opaque_callback_data
	maxBody        = 1024
	maxHeader      = 60
	maxFooter      = 60
	maxButtons     = 3
	maxButtonTitle = 20
	maxButtonID    = 256
	maxListButton  = 20
	maxSections    = 10
	maxRows        = 10 // of all sections together
	maxTitle       = 24 // of a section or a row
	maxDescription = 72
	maxRowID       = 200
	maxFlowText    = 30
	maxProducts    = 30 // of a list of products
	maxCards       = 257
	maxTemplate    = 512 // of a template's name
	maxCoupon      = 15
)

// rules collects the first rule that a request breaks.
type rules struct{ broken *provider.Invalid }

// result is an [*provider.Invalid], or nil.
func (r *rules) result() error {
	if r.broken == nil {
		return nil
	}
	return r.broken
}

func (r *rules) fail(field, format string, args ...any) {
	if r.broken == nil {
		r.broken = &provider.Invalid{Field: field, Message: fmt.Sprintf(format, args...)}
	}
}

// must holds field against a rule that message words.
func (r *rules) must(ok bool, field, message string) {
	if !ok {
		r.fail(field, "%s", message)
	}
}

func (r *rules) needs(field, value string) { r.must(value != "", field, "must not be empty") }

// atMost bounds a text's characters.
func (r *rules) atMost(field, value string, most int) {
	if len(value) > most && utf8.RuneCountInString(value) > most {
		r.fail(field, "must have at most %d characters", most)
	}
}

// between is for texts that must be there.
func (r *rules) between(field, value string, most int) {
	r.needs(field, value)
	r.atMost(field, value, most)
}

// link is an address that Meta can fetch.
func (r *rules) link(field, value string) {
	u, err := url.Parse(value)
	r.must(err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "", field, "must be an http or https address")
}

// count bounds how many there are: one at least.
func (r *rules) count(field string, n, most int) {
	if n < 1 || n > most {
		r.fail(field, "must hold 1 to %d", most)
	}
}

// renamed gives the field of an [*provider.Invalid] the name that it has in
// content: from and to take turns.
func renamed(err error, fromTo ...string) error {
	if bad, ok := err.(*provider.Invalid); ok { //nolint:errorlint // made by rules, never wrapped
		return &provider.Invalid{Field: strings.NewReplacer(fromTo...).Replace(bad.Field), Message: bad.Message}
	}
	return err
}
