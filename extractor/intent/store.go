package intent

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// MaxStored is the maximum size of an encoded model in bytes. To fit, encoding
// omits the smallest weights and rounds the others: a decoded model ranks nearly,
// not exactly, as before.
const MaxStored = 3 << 20

// version is the first byte of an encoded model. It changes with the format and
// with the kinds of features.
const version = 1

// ErrStored reports bytes that are not a model of this version: the model must be
// trained again.
var ErrStored = errors.New("intent: the stored model cannot be read")

// steps is the resolution of encoded weights, which are int8.
const steps = 127

// MarshalBinary encodes the model: names, bias, and for each feature its hash, its
// rarity and its weights that are not zero.
func (m *Model) MarshalBinary() ([]byte, error) {
	out := []byte{version}
	out = binary.AppendUvarint(out, uint64(len(m.names)))
	for i, name := range m.names {
		out = binary.AppendUvarint(out, uint64(len(name)))
		out = append(out, name...)
		out = appendFloat(out, m.bias[i])
	}
	out = appendFloat(out, m.unknown)
	largest, least := m.scale(MaxStored - len(out))
	out = appendFloat(out, largest)
	out = binary.AppendUvarint(out, uint64(len(m.rows)))
	last := uint32(0)
	for _, h := range slices.Sorted(maps.Keys(m.rows)) {
		out = binary.AppendUvarint(out, uint64(h-last))
		last = h
		row := m.rows[h]
		out = append(out, byte(min(255, max(0, math.Round(float64(m.rarity[row])*rarityStep)))))
		out = m.appendRow(out, int(row), largest, least)
	}
	return out, nil
}

// maxWeight is greater than any weight that training yields.
const maxWeight = 1e6

// rarityStep is the resolution of encoded rarities, which are less than 15.
const rarityStep = 17

func appendFloat(out []byte, f float32) []byte {
	return binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
}

// scale returns the largest weight, and the smallest that is encoded so that all
// fit.
func (m *Model) scale(room int) (largest, least float32) {
	sizes := make([]float32, 0, len(m.weights))
	for _, w := range m.weights {
		sizes = append(sizes, max(w, -w))
	}
	slices.SortFunc(sizes, func(a, b float32) int { return cmp.Compare(b, a) })
	if len(sizes) == 0 || sizes[0] == 0 {
		return 1, 1
	}
	largest = sizes[0]
	least = largest / steps / 2
	const ofRow, ofWeight = 8, 2 // bytes, at most: hash, rarity, count; intent, weight
	if n := max(0, room-ofRow*len(m.rows)) / ofWeight; n < len(sizes) {
		least = max(least, sizes[n])
	}
	return largest, least
}

// appendRow encodes the weights of a feature that exceed the least.
func (m *Model) appendRow(out []byte, row int, largest, least float32) []byte {
	n := len(m.names)
	weights := m.weights[row*n : row*n+n]
	count := 0
	for _, w := range weights {
		if max(w, -w) > least {
			count++
		}
	}
	out = binary.AppendUvarint(out, uint64(count))
	for i, w := range weights {
		if max(w, -w) > least {
			out = append(out, byte(i), byte(int8(math.Round(float64(w/largest)*steps))))
		}
	}
	return out
}

// UnmarshalBinary decodes a model that [Model.MarshalBinary] has encoded. Its
// errors wrap [ErrStored].
func (m *Model) UnmarshalBinary(raw []byte) error {
	r := stored{rest: raw}
	read, err := r.model()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStored, err)
	}
	*m = *read
	return nil
}

// stored reads an encoded model. After an error it returns zeros.
type stored struct {
	rest []byte
	err  error
}

var errShort = errors.New("it ends early")

func (r *stored) bytes(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.rest)) {
		r.err = errShort
		return make([]byte, min(n, 8))
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *stored) float() float32 {
	f := math.Float32frombits(binary.LittleEndian.Uint32(r.bytes(4)))
	if !(f > -maxWeight && f < maxWeight) {
		r.err = errors.New("a weight is out of bounds")
	}
	return f
}

func (r *stored) count(limit uint64) uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.err != nil || size <= 0 || n > limit {
		r.err = cmp.Or(r.err, errors.New("a count is too large"))
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *stored) model() (*Model, error) {
	if v := r.bytes(1); v[0] != version {
		return nil, fmt.Errorf("it is of version %d", v[0])
	}
	m := &Model{rows: map[uint32]int32{}}
	n := int(r.count(MaxIntents))
	if n < 2 {
		return nil, errors.New("it has no intents")
	}
	for range n {
		m.names = append(m.names, string(r.bytes(r.count(uint64(len(r.rest))))))
		m.bias = append(m.bias, r.float())
	}
	m.unknown = r.float()
	largest := r.float()
	rows := int(r.count(uint64(min(len(r.rest)/3, maxWeights/n))))
	if r.err != nil {
		return nil, r.err
	}
	m.weights = make([]float32, rows*n)
	last := uint64(0)
	for row := range rows {
		last += r.count(math.MaxUint32)
		m.rows[uint32(last)] = int32(row)
		m.rarity = append(m.rarity, float32(r.bytes(1)[0])/rarityStep)
		for range r.count(uint64(n)) {
			w := r.bytes(2)
			if int(w[0]) >= n {
				return nil, errors.New("a weight is of no intent")
			}
			m.weights[row*n+int(w[0])] = float32(int8(w[1])) / steps * largest
		}
	}
	return m, r.err
}
