// Package uploads takes uploads of files that are to be sent.
package uploads
