// Package session keeps how references stand with their networks: it shows the
// row of a reference as a session, writes it, and says so when its state
// changed. What a network reports of a reference's health is part of that.
package session
