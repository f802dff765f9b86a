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
//  1. [Queue.PutTx] writes it to the outbox in the caller's transaction (queue.go).
//  2. The router moves it to its partition (route.go), under the key that its
//     own has become one with (merge.go). One node routes at a time.
//  3. The claimer looks for subscribers with ready partitions, shares the free
//     slots among them (choose.go), and leases partitions with their first jobs
//     (claim.go). Of a subscriber whose circuit is open it leases one partition,
//     as a probe, when the pause has passed (probe.go).
//  4. The slots of the node decide when the run of a partition begins (slots.go).
//  5. The worker loads the jobs and handles them one after the other, until one
//     is not done or the run has taken long (work.go, run.go).
//  6. The completer writes what became of them: it advances or parks, removes
//     the jobs that are done, and calls [Options].Complete in the same
//     transaction (complete.go). It opens and closes circuits (circuit.go).
//  7. Meanwhile the keeper writes heartbeats, renews the leases, and takes over
//     what dead nodes have leased (lease.go).
//
// node.go starts and stops these parts. collect.go deletes partitions that were
// idle for long. stats.go and pending.go read.
//
// # Locks
//
// Transactions lock rows in this order, so that they never wait in a circle:
//
//  1. the advisory lock of the router, rows of queue_outbox and queue_redirect;
//  2. rows of queue_node;
//  3. rows of queue_partition, by subscriber, key and parked;
//  4. what [Options].Complete locks;
//  5. rows of queue_subscriber, by subscriber.
//
// A probe locks its subscriber before its partition, and an open circuit takes
// parked jobs back after all of these. Both skip partitions that are locked.
//
// In memory there are two mutexes: the completer's, which one finisher holds
// while it gathers a batch, comes before the one of the slots. Neither is held
// while the database is used.
package queue
