package intent

import (
	"cmp"
	"slices"
)

// NoMatch is the name, in a [Report], for texts that stay below the threshold and
// for examples that belong to no intent.
const NoMatch = "nomatch"

// Report measures a model on examples that it has not learned from.
type Report struct {
	Examples int         `json:"examples"`
	Right    int         `json:"right"`
	Intents  []Result    `json:"intents"` // in the order of the examples
	Confused []Confusion `json:"confused"`
}

// Result measures how well one intent is recognised.
type Result struct {
	Name     string `json:"name"`
	Examples int    `json:"examples"`
	Right    int    `json:"right"`
	Others   int    `json:"others"` // examples of other intents that were taken for this one
}

// Confusion counts how often one intent is taken for another, with an example.
type Confusion struct {
	Intent  string `json:"intent"`
	Taken   string `json:"taken"`
	Times   int    `json:"times"`
	Example string `json:"example"`
}

// Evaluate measures a model on examples. Examples of the intent [NoMatch] must stay
// below the threshold.
func (m *Model) Evaluate(intents []Intent, threshold float64) Report {
	r := Report{Intents: []Result{}, Confused: []Confusion{}}
	taken := map[string]int{}
	for _, in := range intents {
		result := Result{Name: in.Name, Examples: len(in.Examples)}
		confused := map[string]*Confusion{}
		for _, e := range in.Examples {
			best, ok := m.Classify(e, threshold)
			if !ok {
				best.Name = NoMatch
			}
			if best.Name == in.Name {
				result.Right++
				continue
			}
			taken[best.Name]++
			if confused[best.Name] == nil {
				confused[best.Name] = &Confusion{Intent: in.Name, Taken: best.Name, Example: e}
			}
			confused[best.Name].Times++
		}
		for _, c := range confused {
			r.Confused = append(r.Confused, *c)
		}
		r.Examples += result.Examples
		r.Right += result.Right
		r.Intents = append(r.Intents, result)
	}
	for i := range r.Intents {
		r.Intents[i].Others = taken[r.Intents[i].Name]
	}
	slices.SortFunc(r.Confused, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Taken, b.Taken))
	})
	return r
}
