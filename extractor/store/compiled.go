package store

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
)

// Said is a text, and what is known of who wrote it.
type Said struct {
	// Text is what is read: its first 16 KiB, of which the meaning is made out
	// by the first 2 KB.
	Text string
	// Locale and Region say how the text is meant, whatever the extractor says.
	Locale, Region string
	// UsualLocale and UsualRegion are the writer's: they count where the
	// extractor says nothing.
	UsualLocale, UsualRegion string
	// Now is what dates are relative to, in the writer's zone. Zero: the clock,
	// in UTC.
	Now time.Time

	means *intent.Text // what models of intents see of it, once it was asked for
}

// compiled is an extractor that is ready to run. It may be used by many at
// once.
type compiled struct {
	Extractor
	number, revision int64 // of the row
	trained          int64 // revision of what was learned, 0: nothing was

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

// maxIntentText is how many bytes of a text say what it means.
const maxIntentText = 2 * intent.MaxExample

// options say how a text is meant.
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

// find finds what needs no model of language.
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

// mostLikely is what a text means, and whether that is likely enough. Without
// anything learned, and of a text without words, nothing is.
func (c *compiled) mostLikely(s *Said, learned *intent.Model) (intent.Score, bool) {
	if learned == nil || !strings.ContainsFunc(s.Text, isWord) {
		return intent.Score{}, false
	}
	if s.means == nil {
		s.means = intent.Read(truncate(s.Text, maxIntentText))
	}
	return learned.ClassifyText(s.means, c.threshold)
}

// means is the match of a text that means something as a whole.
func means(text, name string, confidence float64) entity.Match {
	return entity.Match{Name: IntentValue, Type: IntentValue, Value: name, Text: text, End: len(text), Confidence: confidence}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// truncate bounds a text, at a character.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end]
}
