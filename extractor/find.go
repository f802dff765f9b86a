package extractor

import (
	"context"

	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
)

// Entities finds values of well-known kinds in a text, in the order of their
// place. Offsets are of bytes, and slice the text to what was matched. Nil
// options look for all kinds, in English. Package entity says more.
func Entities(text string, o *entity.Options) []entity.Match { return entity.Find(text, o) }

// TrainIntents learns intents from examples, which takes
// about a second for a thousand of them. Errors name the field. Package intent
// says more.
func TrainIntents(ctx context.Context, examples []intent.Intent) (*intent.Model, error) {
	return intent.Train(ctx, examples) //nolint:wrapcheck // this is that function by a shorter name
}
