// Package inbox takes what networks report and stores it. Events that arrive
// at the same time are stored together, in one transaction.
package inbox
