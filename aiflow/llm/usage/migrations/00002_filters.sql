-- +goose Up
-- the calls of a model and of a user are found without reading the others
CREATE INDEX usage_call_model ON usage_call (account, model, at_us);
CREATE INDEX usage_call_caller ON usage_call (account, caller, at_us) WHERE caller <> '';
