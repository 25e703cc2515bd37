-- Attempts know their hidden system and suite, and count their actions. Each owner has quotas.
CREATE TABLE counted (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL, system TEXT NOT NULL, suite TEXT NOT NULL, instance TEXT NOT NULL,
  number INTEGER NOT NULL, session TEXT NOT NULL, run TEXT NOT NULL, opened REAL NOT NULL,
  over INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL, count INTEGER NOT NULL DEFAULT 0
);
-- Old attempts keep their numbers. Their systems are those of their sessions' instances.
INSERT INTO counted
  SELECT a.id, a.scope,
    CASE WHEN s.instance ->> 'family' IN ('causallink', 'prism') THEN a.instance
      ELSE (s.instance ->> 'family') || '/' || (s.instance ->> 'cluster') END,
    (s.instance ->> 'family') || '/' || (s.instance ->> 'suite'),
    a.instance, a.number, a.session, a.run, a.opened, a.over, a.counts,
    (SELECT count(*) FROM actions WHERE attempt = a.id)
  FROM attempts a JOIN sessions s ON s.key = a.session;
DROP TABLE attempts;
ALTER TABLE counted RENAME TO attempts;
CREATE INDEX attempts_of ON attempts (session);
CREATE INDEX attempts_on ON attempts (scope, system);
CREATE INDEX sessions_of ON sessions (owner) WHERE ended IS NULL;
CREATE TABLE used (
  owner TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (owner, day, what)
) WITHOUT ROWID;
