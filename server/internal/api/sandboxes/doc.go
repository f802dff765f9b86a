// Package sandboxes lets simulated contacts write, and shows what is on their
// phones.
package sandboxes
