// Package extractor is about structured values in incoming messages: a date, an
// order number, an intent.
//
//	for _, found := range extractor.Entities("Write to ana@example.com before 5 March 2027, the price is $17.50", nil) {
//		fmt.Println(found.Name, found.Value)
//	}
//
// A [Regex] finds values by a pattern; package entity finds those of well-known
// kinds, and package intent finds out what the author wants. [Evaluate] runs the tests
// that are kept with an extractor. [DataPayload] is the body of a webhook of type
// data, which a program on the receiving side can decode with this package alone.
// Nothing here knows messages, webhooks or a database; package store keeps
// extractors in one. Errors of configurations begin with the field.
package extractor
