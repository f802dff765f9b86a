// Package clockstep keeps a service working when a clock is set.
//
// What waits in a database has a time at which it may continue. When the clock is set
// back by half an hour, it would wait for half an hour more. So [Watch] notes the time
// of the database every few seconds, and moves such times with the clock when it shows
// less than it did. It does so on each database once, whatever the number of nodes, and
// after a restart, too: for all services that were made in the process that finds it. A
// step that is undone within those seconds is not noticed.
//
// A lease has a time at which others may take it. When the clock is set forward, all
// leases seem to have ended. So those who would take one ask [Sightings] whether its
// holder has renewed it meanwhile.
//
// Times that a user has chosen do not move: a message for nine o'clock is sent when the
// clock shows nine.
package clockstep
