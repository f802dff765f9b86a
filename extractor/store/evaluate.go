package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
)

// Evaluation is the result of an extractor's tests.
type Evaluation struct {
	extractor.Report
	Confused []Confusion // for intents: the most frequent first; never nil
}

// Confusion counts how often one intent is taken for another, with a test as
// example. The name for no intent is intent.NoMatch.
type Confusion struct {
	Intent, Taken string
	Times         int
	Example       string
}

// Evaluate runs the tests of an extractor, so that a change for the worse is seen.
// It asks models as it would for messages, and stops at the first model error.
func (a *Account) Evaluate(ctx context.Context, id string) (Evaluation, error) {
	c, err := a.item(ctx, id)
	if err != nil {
		return Evaluation{}, err
	}
	var failed error
	report, err := extractor.Evaluate(c.tests, func(text string, o *entity.Options) []entity.Match {
		if failed != nil {
			return nil
		}
		var r Result
		r, failed = a.try(ctx, c, Message{Said: Said{Text: text, Locale: o.Locale, Region: o.Region, Now: o.Now}})
		return r.Matches
	})
	if failed != nil {
		return Evaluation{}, failed
	}
	if err != nil {
		return Evaluation{}, fmt.Errorf("comparing values: %w", err)
	}
	out := Evaluation{Report: report, Confused: []Confusion{}}
	if c.Kind == Intent {
		out.Confused = confusions(report.Failures)
	}
	return out, nil
}

// confusions counts the failures of intents.
func confusions(failures []extractor.Failure) []Confusion {
	out := []Confusion{}
	for _, f := range failures {
		wanted, taken := intentOf(f.Wanted), intentOf(f.Found)
		if wanted == taken {
			continue
		}
		i := slices.IndexFunc(out, func(c Confusion) bool { return c.Intent == wanted && c.Taken == taken })
		if i < 0 {
			i = len(out)
			out = append(out, Confusion{Intent: wanted, Taken: taken, Example: f.Text})
		}
		out[i].Times++
	}
	slices.SortStableFunc(out, func(x, y Confusion) int { return cmp.Compare(y.Times, x.Times) })
	return out
}

// intentOf returns the intent among values.
func intentOf(values extractor.Values) string {
	name := intent.NoMatch
	if json.Unmarshal(values[IntentValue], &name) != nil {
		return intent.NoMatch
	}
	return name
}
