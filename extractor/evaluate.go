package extractor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/trunklinehq/trunkline/extractor/entity"
)

// Test is a text and the values that must be found in it.
type Test struct {
	Text   string                     `json:"text"`
	Locale string                     `json:"locale,omitempty"`
	Region string                     `json:"region,omitempty"`
	Now    time.Time                  `json:"now,omitzero"`
	Values map[string]json.RawMessage `json:"values"` // by name; none: nothing must be found
}

// Report counts the tests that passed and lists those that failed.
type Report struct {
	Tests    int       `json:"tests"`
	Right    int       `json:"right"`
	Failures []Failure `json:"failures"`
}

// Failure is a test that found other values than it expects.
type Failure struct {
	Test   int    `json:"test"` // its place among the tests, from 0
	Text   string `json:"text"`
	Wanted Values `json:"wanted"`
	Found  Values `json:"found"`
}

// Evaluate runs tests of anything that finds values. Errors name the test that
// cannot be read.
func Evaluate(tests []Test, find func(string, *entity.Options) []entity.Match) (Report, error) {
	r := Report{Tests: len(tests), Failures: []Failure{}}
	for i, t := range tests {
		found, err := ValuesOf(find(t.Text, &entity.Options{Locale: t.Locale, Region: t.Region, Now: t.Now}))
		if err != nil {
			return r, err
		}
		same, err := equal(t.Values, found)
		if err != nil {
			return r, fmt.Errorf("tests[%d].values: %w", i, err)
		}
		if same {
			r.Right++
			continue
		}
		r.Failures = append(r.Failures, Failure{Test: i, Text: t.Text, Wanted: t.Values, Found: found})
	}
	return r, nil
}

// ValuesOf returns the found values by name. Of several values with one name it
// takes the first.
func ValuesOf(matches []entity.Match) (Values, error) {
	out := Values{}
	for _, m := range matches {
		if _, ok := out[m.Name]; ok {
			continue
		}
		raw, err := json.Marshal(m.Value)
		if err != nil {
			return nil, fmt.Errorf("writing value %s: %w", m.Name, err)
		}
		out[m.Name] = raw
	}
	return out, nil
}

// equal compares values as JSON does: 1.0 equals 1.
func equal(a, b map[string]json.RawMessage) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	for name, raw := range a {
		var x, y any
		if err := json.Unmarshal(raw, &x); err != nil {
			return false, fmt.Errorf("reading %s: %w", name, err)
		}
		if b[name] == nil {
			return false, nil
		}
		if err := json.Unmarshal(b[name], &y); err != nil {
			return false, fmt.Errorf("reading what was found of %s: %w", name, err)
		}
		if !reflect.DeepEqual(x, y) {
			return false, nil
		}
	}
	return true, nil
}
