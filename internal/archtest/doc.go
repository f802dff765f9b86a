// Package archtest holds tests of the module as a whole: which package may
// depend on which, counted over all dependencies, and that every dependency
// is explained. It has no code of its own.
package archtest
