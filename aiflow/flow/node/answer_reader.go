package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// maxAnswer is the most bytes of an answer that is one value.
const maxAnswer = 200

// either reads an answer as the program's reader and as the question itself
// understand it; who knows more of the language first.
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

// foreign is what the program's reader understands.
func (r reader) foreign(kind, said string) (any, bool) {
	v, ok := r.answers.ReadAnswer(kind, said, flow.AnswerOptions{Locale: r.locale, Region: r.region(), Now: r.now})
	if !ok {
		return nil, false
	}
	v, err := values.Admit(v)
	return v, err == nil
}

// day is a day, at midnight UTC.
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

// clock is a time of day, since midnight.
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
