// Package template checks message templates of the WhatsApp Business platform:
// the definitions that are submitted, and the messages that use a template.
//
// [Check] checks definitions and [Validate] messages, each by itself. Package
// messaging, which stores the templates, checks that a message fits its
// template.
package template
