package graph

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
)

// Rules holds a request against limits and keeps, of each field, the first that
// it breaks. The zero value is ready to use. Fields are paths in the request:
// "message.buttons[0].title".
type Rules struct {
	broken []error
	fields map[string]bool
}

// maxBroken is the most fields that are named.
const maxBroken = 50

// Result is nil, a [*provider.Invalid], or several of them, joined.
func (r *Rules) Result() error {
	if len(r.broken) == 1 {
		return r.broken[0]
	}
	return errors.Join(r.broken...)
}

// Fail says what is wrong with a field.
func (r *Rules) Fail(field, format string, args ...any) {
	if r.fields[field] || len(r.broken) == maxBroken {
		return
	}
	if r.fields == nil {
		r.fields = map[string]bool{}
	}
	r.fields[field] = true
	r.broken = append(r.broken, &provider.Invalid{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Must holds field against a rule that message words.
func (r *Rules) Must(ok bool, field, message string) {
	if !ok {
		r.Fail(field, "%s", message)
	}
}

// Needs is for what must be there.
func (r *Rules) Needs(field, value string) { r.Must(value != "", field, "must not be empty") }

// MaxLength bounds a text's characters.
func (r *Rules) MaxLength(field, value string, limit int) {
	if len(value) > limit && utf8.RuneCountInString(value) > limit {
		r.Fail(field, "must have at most %d characters", limit)
	}
}

// Between is for texts that must be there.
func (r *Rules) Between(field, value string, limit int) {
	r.Needs(field, value)
	r.MaxLength(field, value, limit)
}

// Link is an address that Meta can fetch.
func (r *Rules) Link(field, value string) {
	u, err := url.Parse(value)
	r.Must(err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "", field, "must be an http or https address")
}

// Count bounds how many there are: one at least.
func (r *Rules) Count(field string, n, limit int) {
	if n < 1 || n > limit {
		r.Fail(field, "must hold 1 to %d", limit)
	}
}

// Renamed gives the fields of what [Rules.Result] returns the names that they
// have elsewhere: from and to take turns.
func Renamed(err error, fromTo ...string) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, one := range all.Unwrap() {
			out = append(out, Renamed(one, fromTo...))
		}
		return errors.Join(out...)
	}
	if bad, ok := err.(*provider.Invalid); ok { //nolint:errorlint // made by Rules, never wrapped
		return &provider.Invalid{Field: strings.NewReplacer(fromTo...).Replace(bad.Field), Message: bad.Message}
	}
	return err
}
