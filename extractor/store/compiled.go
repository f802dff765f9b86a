package store

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Said is a text, with what is known about its writer.
type Said struct {
	// Text is the text, of which the first 16 KiB are read. Intents look only at
	// the first 2 KB.
	Text string
	// Locale and Region determine how the text is read. They override the
	// extractor's.
	Locale, Region string
	// UsualLocale and UsualRegion are the writer's. They apply where the extractor
	// has none.
	UsualLocale, UsualRegion string
	// Now is the reference point of dates, in the writer's zone. Zero: the clock,
	// in UTC.
	Now time.Time

	means *intent.Text // features for intent models, computed on demand
}

// compiled is an extractor that is ready to run. It is safe for concurrent use.
type compiled struct {
	Extractor
	number, revision int64 // of the row
	trained          int64 // revision of the trained model; 0: there is none

	tests     []extractor.Test
	regex     *extractor.Regex
	entity    *entity.Options
	intents   []string // their names
	threshold float64
	fallback  string
	ask       *question
}

// IntentValue is the name of the value that extractors of kind [Intent] find.
const IntentValue = "intent"

// maxIntentText is the number of bytes from which the intent is derived.
const maxIntentText = 2 * intent.MaxExample

// options returns the options for reading a text.
func (c *compiled) options(s Said) *entity.Options {
	o := entity.Options{}
	if c.entity != nil {
		o = *c.entity
	}
	o.Locale = cmp.Or(s.Locale, o.Locale, s.UsualLocale)
	o.Region = cmp.Or(s.Region, o.Region, s.UsualRegion)
	o.Now = s.Now
	return &o
}

// find finds the values that need no language model.
func (c *compiled) find(s *Said, learned *intent.Model) []entity.Match {
	switch c.Kind {
	case Regex:
		return c.regex.Find(s.Text, c.options(*s))
	case Entity:
		return entity.Find(s.Text, c.options(*s))
	case Intent:
		if best, ok := c.mostLikely(s, learned); ok {
			return []entity.Match{means(s.Text, best.Name, best.Confidence)}
		}
	}
	return nil
}

// mostLikely returns the most likely intent of a text, and whether it reaches the
// threshold. Nothing does without a trained model or in a text without words.
func (c *compiled) mostLikely(s *Said, learned *intent.Model) (intent.Score, bool) {
	if learned == nil || !strings.ContainsFunc(s.Text, isWord) {
		return intent.Score{}, false
	}
	if s.means == nil {
		s.means = intent.Read(text.Truncate(s.Text, maxIntentText))
	}
	return learned.ClassifyText(s.means, c.threshold)
}

// means returns a match that covers the whole text.
func means(text, name string, confidence float64) entity.Match {
	return entity.Match{Name: IntentValue, Type: IntentValue, Value: name, Text: text, End: len(text), Confidence: confidence}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
