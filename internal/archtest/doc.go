// Package archtest has tests of the module as a whole, such as which package may
// depend on which, and whether every dependency is explained. It has no code of its
// own.
package archtest
