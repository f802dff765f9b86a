// Package simulation tests whole servers on a virtual clock. One process has the
// networks, the receivers of webhooks, the users and up to two servers; a seed decides
// what they do and which faults they meet. See TestSimulation.
package simulation
