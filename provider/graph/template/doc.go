// Package template holds the rules of message templates of the WhatsApp
// Business platform: what a template may look like when it is handed in, and
// what a message may look like that fills one in.
//
// [Check] is for definitions and [Validate] for messages. Both look at one
// value alone. Whether a message fits the template that it names is for who
// keeps the templates: package messaging.
package template
