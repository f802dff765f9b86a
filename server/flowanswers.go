package server

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/extractor/entity"
)

// answerReader has questions of bots and flows understand what extractors find.
type answerReader struct{}

// Speaks says whether extractors know a language.
func (answerReader) Speaks(locale string) bool { return entity.Speaks(locale) }

// ReadAnswer reads an answer as an extractor of kind entity does: kinds of
// answers have the names of its types.
func (answerReader) ReadAnswer(kind, text string, o flow.AnswerOptions) (any, bool) {
	return entity.Parse(kind, text, &entity.Options{Locale: o.Locale, Region: o.Region, Now: o.Now})
}
