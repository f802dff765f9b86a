// Package payload holds what integrators receive about chats: messages, their
// statuses, calls and sessions, as webhooks, the change stream and the API
// write them. Package messaging makes the values.
//
// It needs no database, so that a receiver of webhooks can decode into its
// types.
package payload
