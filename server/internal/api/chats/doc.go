// Package chats answers what the REST API is asked about
// chats, their messages, groups and templates.
package chats
