// Package refusal says what the error of a provider means: whether something
// was sent, when to try again, and what users are told.
package refusal
