CREATE TABLE sessions (
  key text PRIMARY KEY, owner text NOT NULL, began float8 NOT NULL, spoke float8 NOT NULL,
  lasting boolean NOT NULL, ended float8, instance text, template text NOT NULL DEFAULT '',
  attempt bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX open_sessions ON sessions (spoke) WHERE ended IS NULL;
CREATE INDEX sessions_of ON sessions (owner) WHERE ended IS NULL;
CREATE TABLE attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope text NOT NULL, system text NOT NULL, suite text NOT NULL, instance text NOT NULL,
  number integer NOT NULL, session text NOT NULL, run text NOT NULL, opened float8 NOT NULL,
  over boolean NOT NULL DEFAULT false, counts boolean NOT NULL, count integer NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX attempts_of ON attempts (session);
CREATE INDEX attempts_on ON attempts (scope, system);
-- The day is that on which the attempt was opened, so that an attempt is in one partition.
CREATE TABLE actions (
  attempt bigint NOT NULL, number integer NOT NULL, action text NOT NULL, at float8 NOT NULL,
  day integer NOT NULL, PRIMARY KEY (attempt, number, day)
) PARTITION BY RANGE (day);
CREATE TABLE actions_other PARTITION OF actions DEFAULT;
CREATE TABLE receipts (
  receipt text PRIMARY KEY, attempt bigint NOT NULL, made float8 NOT NULL
);
CREATE TABLE used (
  owner text NOT NULL, day integer NOT NULL, what text NOT NULL, n integer NOT NULL,
  PRIMARY KEY (owner, day, what)
);
