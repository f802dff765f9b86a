// Package compat writes what happens on a reference as webhooks of Meta's Cloud API,
// Evolution API, WAHA and wuzapi, so that a receiver that was written for one of them continues
// without a change. It is pure: a payload of package messaging goes in, theirs
// comes out.
//
//	f := compat.Find("waha")
//	if f.Has("message", payload) {
//		body, err := f.Body(compat.Event{
//			ID: id, Type: "message", ChatID: "16505551234@s.whatsapp.net", At: at, Payload: payload,
//			Reference: compat.Reference{ID: "1", Name: "default", BaseURL: "https://chat.example.com"},
//		})
//		// POST body, with f.Headers(…) where the receiver checks a signature
//	}
//
// # What is the same, and what is not
//
// The members that their documentation names are there, by their names and in
// their types. What only their libraries know of a message is not: keys, hashes
// and addresses of WhatsApp's encrypted files. A file has the address under which
// this server gives it out instead, in clear.
//
// What an event has no likeness of, [Format.Has] says: values that extractors
// found and subscriptions are not told in these formats. Groups make no
// events here, but for the messages in them.
package compat
