package graph

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
)

// Rules checks a request against limits and records the first broken rule of
// each field. The zero value is ready to use. Fields are paths in the request,
// such as "message.buttons[0].title".
type Rules struct {
	broken []error
	fields map[string]bool
}

// maxBroken limits how many fields are reported.
const maxBroken = 50

// Result returns nil, a [*provider.Invalid], or several of them, joined.
func (r *Rules) Result() error {
	if len(r.broken) == 1 {
		return r.broken[0]
	}
	return errors.Join(r.broken...)
}

// Fail records what is wrong with a field.
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

// Must records message as a problem of field unless ok is true.
func (r *Rules) Must(ok bool, field, message string) {
	if !ok {
		r.Fail(field, "%s", message)
	}
}

// Needs records a problem if value is empty.
func (r *Rules) Needs(field, value string) { r.Must(value != "", field, "must not be empty") }

// MaxLength limits the characters of a text.
func (r *Rules) MaxLength(field, value string, limit int) {
	if len(value) > limit && utf8.RuneCountInString(value) > limit {
		r.Fail(field, "must have at most %d characters", limit)
	}
}

// Between limits the characters of a text that must not be empty.
func (r *Rules) Between(field, value string, limit int) {
	r.Needs(field, value)
	r.MaxLength(field, value, limit)
}

// Link checks an address that Meta has to download from.
func (r *Rules) Link(field, value string) {
	u, err := url.Parse(value)
	r.Must(err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "", field, "must be an http or https address")
}

// Count limits how many there are, at least one.
func (r *Rules) Count(field string, n, limit int) {
	if n < 1 || n > limit {
		r.Fail(field, "must hold 1 to %d", limit)
	}
}

// Renamed replaces the names of fields in what [Rules.Result] returns. The
// names are pairs of old and new.
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
