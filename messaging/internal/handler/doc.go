// Package handler calls the function of the program for messages of contacts: at least
// once for each, in the order of their chat, again after an error or a crash, and not
// for ever.
package handler
