-- +goose Up
-- Tables begin with the name of their package, by which backups find them.
ALTER TABLE counter_mark RENAME TO usagecounter_mark;
ALTER TABLE counter_day RENAME TO usagecounter_day;
