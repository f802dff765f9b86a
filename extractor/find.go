package extractor

import (
	"context"

	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
)

// Entities finds values of well-known kinds in a text, in the order of their
// position. Offsets count bytes and slice the text to what matched. Nil options
// look for all kinds, in English. See package entity.
func Entities(text string, o *entity.Options) []entity.Match { return entity.Find(text, o) }

// TrainIntents trains a model on examples. A thousand examples take about a second.
// Errors name the field. See package intent.
func TrainIntents(ctx context.Context, examples []intent.Intent) (*intent.Model, error) {
	return intent.Train(ctx, examples) //nolint:wrapcheck // this is that function by a shorter name
}
