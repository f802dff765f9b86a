package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// maxAnswer is the maximum length of an answer that is one value, in bytes.
const maxAnswer = 200

// either tries the program's reader and the question's own. The one that supports
// the language better goes first.
func (r reader) either(kind, said string, own func(said string) (any, bool)) (any, bool) {
	if r.answers == nil || said == "" || len(said) > maxAnswer {
		return own(said)
	}
	if !r.answers.Speaks(r.locale) {
		if v, ok := own(said); ok {
			return v, true
		}
		return r.foreign(kind, said)
	}
	if v, ok := r.foreign(kind, said); ok {
		return v, true
	}
	return own(said)
}

// foreign returns the result of the program's reader.
func (r reader) foreign(kind, said string) (any, bool) {
	v, ok := r.answers.ReadAnswer(kind, said, flow.AnswerOptions{Locale: r.locale, Region: r.region(), Now: r.now})
	if !ok {
		return nil, false
	}
	v, err := values.Admit(v)
	return v, err == nil
}

// day parses a day and returns midnight UTC.
func (r reader) day(said string) (time.Time, bool) {
	v, ok := r.either("date", said, func(said string) (any, bool) {
		day, ok := r.ownDay(said)
		return day.Format(time.DateOnly), ok
	})
	if !ok {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, values.TextOf(v))
	return day, err == nil
}

// clock parses a time of day and returns the duration since midnight.
func (r reader) clock(said string) (time.Duration, bool) {
	v, ok := r.either("time", said, func(said string) (any, bool) {
		d, ok := timeOfDay(said)
		return time.Time{}.Add(d).Format(time.TimeOnly), ok
	})
	if !ok {
		return 0, false
	}
	at, err := time.Parse(time.TimeOnly, values.TextOf(v))
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second, err == nil
}
