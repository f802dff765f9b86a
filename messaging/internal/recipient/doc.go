// Package recipient finds out who is meant by an id that users write: a chat id
// of any kind, a remoteJid of a payload, or a user name.
package recipient
