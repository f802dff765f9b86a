package intent

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Limits of the examples.
const (
	MaxIntents  = 200
	MaxExamples = 500  // of an intent
	MaxExample  = 1000 // bytes
)

// Intent is something that people may want, with examples of how they say it.
type Intent struct {
	Name     string   `json:"name"`
	Examples []string `json:"examples"`
}

// maxWeights is the maximum number of weights of a model, of four bytes each. If
// there are more features, it uses those that occur in the most examples.
const maxWeights = 8 << 20

// Training parameters: steps, and how far a wrong answer moves the weights. That
// distance falls to zero towards the end.
const (
	minEpochs = 12
	maxEpochs = 60
	allSteps  = 120_000
	rate      = 6.0
	decay     = 2e-6 // of the used weights, at each step
)

// Train trains a model on examples. A thousand examples take about a second. It
// returns the context's error when the context ends first. Other errors name the
// field.
func Train(ctx context.Context, intents []Intent) (*Model, error) {
	if err := Check(intents); err != nil {
		return nil, err
	}
	m := &Model{rows: map[uint32]int32{}}
	var texts []string
	var labels []int
	for i, in := range intents {
		m.names = append(m.names, in.Name)
		for _, e := range in.Examples {
			texts = append(texts, e)
			labels = append(labels, i)
		}
	}
	m.know(texts)
	m.bias = make([]float32, len(m.names))
	m.weights = make([]float32, len(m.rows)*len(m.names))
	examples := make([][]active, len(texts))
	for i, text := range texts {
		examples[i] = m.activeOf(Read(text))
	}
	if err := m.learn(ctx, examples, labels); err != nil {
		return nil, err
	}
	return m, nil
}

// Check validates examples as [Train] does, without training. Errors name the
// field.
func Check(intents []Intent) error {
	if len(intents) < 2 || len(intents) > MaxIntents {
		return fmt.Errorf("intents must be 2 to %d", MaxIntents)
	}
	seen := map[string]bool{}
	for i, in := range intents {
		if in.Name == "" || seen[in.Name] {
			return fmt.Errorf("intents[%d].name must be there, and be of one intent alone", i)
		}
		seen[in.Name] = true
		if len(in.Examples) == 0 || len(in.Examples) > MaxExamples {
			return fmt.Errorf("intents[%d].examples must be 1 to %d", i, MaxExamples)
		}
		for j, e := range in.Examples {
			if strings.TrimSpace(e) == "" || len(e) > MaxExample {
				return fmt.Errorf("intents[%d].examples[%d] must have 1 to %d bytes", i, j, MaxExample)
			}
		}
	}
	return nil
}

// know gives each feature of the examples a row. Where there are many examples, it
// ignores features that only one of them has.
func (m *Model) know(texts []string) {
	in := map[uint32]int{}
	for _, text := range texts {
		for h := range features(text) {
			in[h]++
		}
	}
	least := 1
	if len(texts) > 2000 {
		least = 2
	}
	var known []uint32
	for h, n := range in {
		if n >= least {
			known = append(known, h)
		}
	}
	slices.SortFunc(known, func(a, b uint32) int { return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(a, b)) })
	known = known[:min(len(known), maxWeights/len(m.names))]
	slices.Sort(known)
	all := float64(len(texts) + 1)
	for i, h := range known {
		m.rows[h] = int32(i)
		m.rarity = append(m.rarity, float32(math.Log(all/float64(in[h]+1))+1))
	}
	m.unknown = float32(math.Log(all/2) + 1)
}

// learn goes over the examples several times, each time in another random order.
func (m *Model) learn(ctx context.Context, examples [][]active, labels []int) error {
	random := rand.New(rand.NewPCG(1, uint64(len(examples)))) //nolint:gosec // the same examples make the same model
	epochs := min(max(allSteps/len(examples), minEpochs), maxEpochs)
	p := make([]float32, len(m.names))
	total, done := float32(epochs*len(examples)), float32(0)
	for range epochs {
		for n, i := range random.Perm(len(examples)) {
			if err := ctx.Err(); n%256 == 0 && err != nil {
				return fmt.Errorf("learning intents: %w", err)
			}
			m.step(examples[i], labels[i], rate*(1-done/total), p)
			done++
		}
	}
	return nil
}

// step moves the weights towards the right answer for an example.
func (m *Model) step(x []active, label int, by float32, p []float32) {
	m.probabilities(x, p)
	p[label]--
	n := len(p)
	for i := range p {
		m.bias[i] -= 0.1 * by * p[i]
		p[i] *= by
	}
	for _, f := range x {
		row := m.weights[int(f.row)*n : int(f.row)*n+n]
		for i, g := range p {
			row[i] -= g*f.value + by*decay*row[i]
		}
	}
}
