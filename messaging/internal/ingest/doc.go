// Package ingest applies what networks report: it makes events fit for
// storing, and changes chats and messages by them within one batch. It reads
// what all events of a batch need at once and opens no transaction for them;
// the caller does.
package ingest
