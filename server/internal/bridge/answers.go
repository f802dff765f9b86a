package bridge

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/extractor/entity"
)

// AnswerReader reads answers to questions of bots and flows as extractors do.
type AnswerReader struct{}

// Speaks reports whether extractors know a language.
func (AnswerReader) Speaks(locale string) bool { return entity.Speaks(locale) }

// ReadAnswer reads an answer as an extractor of kind entity does: kinds of
// answers have the names of its types.
func (AnswerReader) ReadAnswer(kind, text string, o flow.AnswerOptions) (any, bool) {
	return entity.Parse(kind, text, &entity.Options{Locale: o.Locale, Region: o.Region, Now: o.Now})
}
