// Package intent tells what a message is about, from examples: it learns in
// seconds, on the machine itself, without a language model or a network.
//
// A text becomes the words, pairs of words and parts of words that it has, each
// weighed by its rarity. A softmax regression learns which of them speak for which
// intent. The same examples always make the same [Model]. A model is safe for
// concurrent use.
//
//	m, err := intent.Train(ctx, []intent.Intent{
//		{Name: "refund", Examples: []string{"I want my money back", ...}},
//		{Name: "delivery", Examples: []string{"where is my parcel", ...}},
//	})
//	best, ok := m.Classify("give me back my money", 0.5)
//
// [Model.MarshalBinary] encodes a model in at most [MaxStored] bytes.
// [Model.Evaluate] measures it on examples that it has not learned from. Errors
// name the field of the examples that is invalid; bytes that are not a model are
// [ErrStored].
package intent
