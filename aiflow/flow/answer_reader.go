package flow

import (
	"time"
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
