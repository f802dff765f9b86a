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

// Evaluation is how an extractor does on its tests.
type Evaluation struct {
	extractor.Report
	Confused []Confusion // of intents: what is taken for what, the most frequent first; never nil
}

// Confusion is how often one intent is taken for another, and a test of it.
// Nothing at all is intent.NoMatch.
type Confusion struct {
	Intent, Taken string
	Times         int
	Example       string
}

// Evaluate runs the tests that are kept with an extractor, so that an edit that
// makes it worse is seen. Models are asked as they would be for messages; the
// first that does not answer ends it.
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

// confusions are the failures of intents, counted.
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

// intentOf is the intent among values.
func intentOf(values extractor.Values) string {
	name := intent.NoMatch
	if json.Unmarshal(values[IntentValue], &name) != nil {
		return intent.NoMatch
	}
	return name
}
