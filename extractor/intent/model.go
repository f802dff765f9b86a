package intent

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Score is the probability of an intent.
type Score struct {
	Name       string  `json:"name"`
	Confidence float64 `json:"confidence"` // from 0 to 1; the sum over all intents is 1
}

// Model classifies texts by intent.
type Model struct {
	names   []string
	bias    []float32
	rows    map[uint32]int32 // index of the weights of each feature
	rarity  []float32        // of each row
	unknown float32          // rarity of features that no example has
	weights []float32        // by row, then intent
}

// Names returns the intents, in the order of their training.
func (m *Model) Names() []string { return slices.Clone(m.names) }

// active is a feature of a text that the model knows.
type active struct {
	row   int32
	value float32
}

// Text holds the features of a text, so that several models can share them.
type Text struct{ features []feature }

type feature struct {
	hash  uint32
	value float32 // from the number of occurrences
}

// Read extracts the features of a text.
func Read(text string) *Text {
	found := features(text)
	t := &Text{make([]feature, 0, len(found))}
	for _, h := range slices.Sorted(maps.Keys(found)) {
		t.features = append(t.features, feature{h, 1 + float32(math.Log(float64(found[h])))})
	}
	return t
}

// activeOf returns the known features of a text. They are scaled to length 1
// together with the unknown ones, so that a text with few known features counts
// little.
func (m *Model) activeOf(text *Text) []active {
	out := make([]active, 0, len(text.features))
	var sum float64
	for _, f := range text.features {
		v := f.value
		row, ok := m.rows[f.hash]
		if !ok {
			v *= m.unknown
		} else {
			v *= m.rarity[row]
			out = append(out, active{row, v})
		}
		sum += float64(v) * float64(v)
	}
	if sum > 0 {
		scale := float32(1 / math.Sqrt(sum))
		for i := range out {
			out[i].value *= scale
		}
	}
	return out
}

// Rank ranks all intents, the most likely first. It ranks a text without known
// features by the number of examples of each intent.
func (m *Model) Rank(text string) []Score { return m.rank(Read(text)) }

func (m *Model) rank(text *Text) []Score {
	p := make([]float32, len(m.names))
	m.probabilities(m.activeOf(text), p)
	out := make([]Score, len(p))
	for i, name := range m.names {
		out[i] = Score{Name: name, Confidence: float64(p[i])}
	}
	slices.SortStableFunc(out, func(a, b Score) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return out
}

// Classify returns the most likely intent, and whether it reaches the threshold.
func (m *Model) Classify(text string, threshold float64) (Score, bool) {
	return m.ClassifyText(Read(text), threshold)
}

// ClassifyText is like [Model.Classify] for a text that [Read] has read.
func (m *Model) ClassifyText(text *Text, threshold float64) (Score, bool) {
	best := m.rank(text)[0]
	return best, best.Confidence >= threshold
}

// probabilities fills p with the probability of each intent.
func (m *Model) probabilities(x []active, p []float32) {
	copy(p, m.bias)
	n := len(p)
	for _, f := range x {
		row := m.weights[int(f.row)*n : int(f.row)*n+n]
		for i, w := range row {
			p[i] += w * f.value
		}
	}
	softmax(p)
}

func softmax(p []float32) {
	top := slices.Max(p)
	var sum float32
	for i, v := range p {
		p[i] = float32(math.Exp(float64(v - top)))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}
