-- +goose Up
-- Runs that go on and runs that failed are found among many that are over. The columns
-- change only when a run ends: while it goes on, its row is updated in place.
CREATE INDEX flow_run_open ON flow_run (account, seq) WHERE ended_us = 0;
CREATE INDEX flow_run_failed ON flow_run (account, seq) WHERE error <> '';
CREATE INDEX flow_run_started ON flow_run (account, started_us) WHERE parent = '';
