// Package extractor is about structured values in incoming messages: a date, an
// order number, what somebody wants.
//
// It holds the form in which such values reach integrators: [DataPayload] is
// the body of a webhook of type data, which a program on the receiving side
// can decode with this package alone. It extracts nothing itself and knows
// neither messages nor webhooks.
package extractor
