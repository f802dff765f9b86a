// Package callback takes what networks post. It finds out who signed a body
// among the references that claim an id in it, and parses it for each of them.
// Anybody may claim any id and post any body, so that every step is bounded.
package callback
