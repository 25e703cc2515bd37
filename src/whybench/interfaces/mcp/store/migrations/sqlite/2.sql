CREATE TABLE sessions (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, began REAL NOT NULL, spoke REAL NOT NULL,
  lasting INTEGER NOT NULL, ended REAL, instance TEXT, template TEXT NOT NULL DEFAULT '',
  attempt INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX open_sessions ON sessions (spoke) WHERE ended IS NULL;
CREATE TABLE attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL, instance TEXT NOT NULL, number INTEGER NOT NULL, session TEXT NOT NULL,
  run TEXT NOT NULL, opened REAL NOT NULL, over INTEGER NOT NULL DEFAULT 0,
  counts INTEGER NOT NULL, UNIQUE (scope, instance, number)
);
CREATE INDEX attempts_of ON attempts (session);
CREATE TABLE actions (
  attempt INTEGER NOT NULL, number INTEGER NOT NULL, action TEXT NOT NULL,
  at REAL NOT NULL, PRIMARY KEY (attempt, number)
) WITHOUT ROWID;
CREATE TABLE receipts (
  receipt TEXT PRIMARY KEY, attempt INTEGER NOT NULL, made REAL NOT NULL
) WITHOUT ROWID;
