-- +goose Up
UPDATE flow_run SET cancelled = TRUE WHERE status = 'cancelled';
CREATE INDEX flow_run_cancelled ON flow_run (account, seq) WHERE cancelled;
CREATE INDEX flow_run_cancelled_owner ON flow_run (owner, seq) WHERE cancelled;
-- The runs of a day are counted by usagecounter.
DROP INDEX flow_run_started;
