package intent

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Score is how likely an intent is meant.
type Score struct {
	Name       string  `json:"name"`
	Confidence float64 `json:"confidence"` // from 0 to 1; of all intents together 1
}

// Model tells intents apart.
type Model struct {
	names   []string
	bias    []float32
	rows    map[uint32]int32 // feature → its row of weights
	rarity  []float32        // of each row
	unknown float32          // rarity of what no example has
	weights []float32        // by row, then intent
}

// Names are the intents, in the order of their training.
func (m *Model) Names() []string { return slices.Clone(m.names) }

// active is a feature of a text that the model knows.
type active struct {
	row   int32
	value float32
}

// Text is a text as models see it: who asks several reads it once.
type Text struct{ features []feature }

type feature struct {
	hash  uint32
	value float32 // by how often it is there
}

// Read makes out what models look at in a text.
func Read(text string) *Text {
	found := features(text)
	t := &Text{make([]feature, 0, len(found))}
	for _, h := range slices.Sorted(maps.Keys(found)) {
		t.features = append(t.features, feature{h, 1 + float32(math.Log(float64(found[h])))})
	}
	return t
}

// activeOf are the known features of a text, scaled to length 1 together with
// the unknown ones: a text of which little is known speaks for nothing.
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

// Rank ranks all intents, better first. A text without anything known ranks
// them by how many examples they have.
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

// Classify is the best intent, and whether it is as likely as the threshold.
func (m *Model) Classify(text string, threshold float64) (Score, bool) {
	return m.ClassifyText(Read(text), threshold)
}

// ClassifyText is [Model.Classify] of a text that was read before.
func (m *Model) ClassifyText(text *Text, threshold float64) (Score, bool) {
	best := m.rank(text)[0]
	return best, best.Confidence >= threshold
}

// probabilities fills in how likely each intent is.
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
