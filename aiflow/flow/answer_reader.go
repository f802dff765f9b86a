package flow

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// AnswerReader reads what contacts answer to questions. A program that finds
// values in messages gives its own to [Types.ReadAnswers], so that a question
// understands what the program finds elsewhere. What it returns must depend on
// its arguments alone, for a turn may be computed twice. It is used by many
// goroutines at once.
type AnswerReader interface {
	// Speaks says whether it knows the language of a locale, as pt-BR. The
	// answers in other languages it reads only where a question does not
	// understand them by itself.
	Speaks(locale string) bool
	// ReadAnswer reads a text that is one value and nothing else. By its kind
	// that is
	//
	//	date     string, YYYY-MM-DD
	//	time     string, HH:MM:SS
	//	number   int, int64 or float64
	//	email    string
	//	url      string
	//	phone    string, E.164
	//	boolean  bool
	//
	// and ok is false when the text is no such value.
	ReadAnswer(kind, text string, o AnswerOptions) (value any, ok bool)
}

// AnswerOptions say how an answer is meant.
type AnswerOptions struct {
	Locale string    // the contact's language, else the document's, as pt-BR
	Region string    // the country of the contact's phone number, else of the locale, as BR; "": unknown
	Now    time.Time // what dates are relative to, in the document's time zone
}

// ReadAnswers has questions understand answers as r does. Call it before a
// document is compiled. nil: by themselves alone.
func (t *Types) ReadAnswers(r AnswerReader) { t.answers = r }

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
	v, ok := r.answers.ReadAnswer(kind, said, AnswerOptions{Locale: r.locale, Region: r.region(), Now: r.now})
	if !ok {
		return nil, false
	}
	v, err := admit(v)
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
