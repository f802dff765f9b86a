// Package wait lets callers wait for what becomes of a message: for the first
// attempt to send it, or for its file. A caller is woken by this node at once,
// and finds what another node did by looking into the database.
package wait
