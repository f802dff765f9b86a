// Package intent tells what a message is about, from examples: it learns in
// seconds, on the machine itself, without a language model or a network.
//
// A text becomes the words, pairs of words and pieces of words it has, each
// weighed by how rare it is; a softmax regression learns which of them speak
// for which intent. The same examples make the same [Model]. A model may be
// used by many at once.
//
//	m, err := intent.Train(ctx, []intent.Intent{
//		{Name: "refund", Examples: []string{"I want my money back", ...}},
//		{Name: "delivery", Examples: []string{"where is my parcel", ...}},
//	})
//	best, ok := m.Classify("give me back my money", 0.5)
//
// [Model.MarshalBinary] writes a model to be kept, at most [MaxStored] bytes, and
// [Model.Evaluate] says how good it is on examples that it has not learned from.
// Errors name the field of the examples that is wrong; bytes that are not a model are
// [ErrStored].
package intent
