// Package queue is a durable queue in the database: first in, first out per
// key; leased, fenced and retried; shared by any number of equal nodes.
//
// A [JobArgs] names a subscriber (the receiver, which is paused and limited as
// one), a key (jobs of one key keep their order) and a subject (the id of a row
// of the caller's). The jobs of a subscriber and key are a partition. Their
// sequence numbers count from 1 and are never used twice. Two keys can become
// one ([JobArgs.Merged]).
//
// # What happens to a job
//
//  1. [Queue.PutTx] keeps it with the caller's transaction. At its end the jobs
//     of all queues are written to their partitions with one statement (put.go),
//     under the keys that theirs have become one with (merge.go).
//  2. The claimer looks for subscribers with ready partitions, shares the free
//     slots among them (choose.go), and leases partitions with their first jobs
//     (claim.go). Of a subscriber whose circuit is open it leases one partition,
//     as a probe, when the pause has passed (probe.go).
//  3. The slots of the node decide when the run of a partition begins (slots.go).
//  4. The worker loads the jobs and handles them one after the other, until one
//     is not done or the run has taken long (work.go, run.go).
//  5. The completer writes what became of them: it calls [Options].Complete, and
//     in the same transaction advances or parks, and removes the jobs that are
//     done (complete.go). It opens and closes circuits (circuit.go).
//  6. Meanwhile the keeper renews the leases, and takes over what dead nodes have
//     leased (lease.go). One statement a process writes the heartbeats of its
//     queues (heartbeat.go). clock.go copes with a clock that is set.
//
// node.go starts and stops these parts. review.go has partitions continue that
// waited for others. collect.go deletes partitions that were idle for long.
// stats.go and pending.go read.
//
// # Fairness
//
// A claim shares the free slots equally among the subscribers that have ready
// partitions, and begins with another one each time: however many jobs one of them has,
// it gets one share. The partitions of a subscriber take turns: one that was worked on
// is ready later than those that wait. A partition is worked on for [Options].Run jobs
// at most, so a key with many jobs gets no more than one with few.
//
// # Locks
//
// Transactions lock rows in this order, so that they never wait in a circle:
//
//  1. rows of queue_node;
//  2. what callers lock before they put jobs, and what [Options].Complete locks,
//     such as chats;
//  3. queue by queue, in the order of their names: the advisory lock of merges,
//     rows of queue_partition by subscriber, key and parked, and rows of
//     queue_subscriber by subscriber.
//
// A caller's transaction, whose end is not known, locks partitions when it puts
// jobs. It should lock its own rows before. A probe locks its subscriber before its
// partition, and an open circuit takes parked jobs back after all of these. Both
// skip partitions that are locked.
//
// The tests of this package, and of those that put jobs, fail if a transaction locks
// nodes, chats, runs or partitions against the order: see CheckLocks of package
// testkit.
//
// In memory there are two mutexes: the completer's, which one finisher holds
// while it gathers a batch, comes before the one of the slots. Neither is held
// while the database is used.
package queue
