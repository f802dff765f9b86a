// Package render turns the content of messages into what users see and back:
// into plain text for records and for networks that lack a type, into JSON,
// and from JSON with the rules of the interface checked.
package render
