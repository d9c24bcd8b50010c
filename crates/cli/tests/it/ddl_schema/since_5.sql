-- What came with Firebird 5.
CREATE UNIQUE INDEX ix_partial ON customers (name) WHERE since IS NOT NULL;
CREATE INDEX ix_both ON customers COMPUTED BY (twice("ORDER")) WHERE balance > 0;
