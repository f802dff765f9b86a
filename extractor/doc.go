// Package extractor is about structured values in incoming messages: a date, an
// order number, an intent.
//
//	text := "Write to ana@example.com before 5 March 2027, the price is $17.50"
//	for _, found := range extractor.Entities(text, nil) {
//		fmt.Println(found.Name, found.Value)
//	}
//
// A [Regex] finds values by a pattern. Package entity finds values of well-known
// kinds, and package intent finds out what the author wants. [Evaluate] runs the
// tests that belong to an extractor. [DataPayload] is the body of a webhook of type
// data; a receiver can decode it with this package alone. The package does not know
// messages, webhooks or a database; package store keeps extractors in a database.
// Errors of configurations begin with the name of the field.
package extractor
