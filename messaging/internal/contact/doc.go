// Package contact asks networks about contacts: whether a phone number has an
// account there, and what a contact is called.
package contact
