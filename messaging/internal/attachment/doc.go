// Package attachment keeps the files of messages in a media library: it fetches
// what networks announce, looks up and converts what is sent, uploads it to
// networks, and removes what was deleted. Events that wait for a file continue
// when it has come, or will not come.
package attachment
