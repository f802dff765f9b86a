// Package template holds the copy of a message template that a reference has:
// its row, what its parts and parameters are, whether a message fits it, and
// what a contact sees of one that does. [Copies] fetches the copies from the
// networks and keeps them up to date.
package template
