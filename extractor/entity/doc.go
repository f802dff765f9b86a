// Package entity finds values of well-known kinds in a text: e-mail addresses,
// phone numbers, dates, amounts and the like. It needs no model and no network,
// and takes far less than a millisecond for a message.
//
// A [WordList] finds words of a dictionary, also with typing mistakes. [Parse]
// reads a text that consists of one value, such as the answer to a question.
//
// Words come from tables, one for each language (languages/*.json). A new language
// needs only a table, no code. Offsets count bytes and always slice the text to
// what matched. Invalid values (a card number with a wrong check digit, the 31st of
// April) are not found.
//
//	for _, m := range entity.Find("lunch on friday at 1pm?", &entity.Options{Locale: "en", Now: now}) {
//		fmt.Println(m.Type, m.Text, m.Value)
//	}
//
// Phone numbers are E.164 (ITU-T), currencies ISO 4217, dates ISO 8601.
package entity
