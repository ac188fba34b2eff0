BEGIN TRANSACTION;
CREATE TABLE bruit_books (
	identity VARCHAR(32) NOT NULL, 
	name TEXT NOT NULL, 
	terms TEXT NOT NULL, 
	created BIGINT NOT NULL, 
	accountant TEXT NOT NULL, 
	capacity BIGINT NOT NULL, 
	capacity_delta BIGINT NOT NULL, 
	total BIGINT NOT NULL, 
	total_delta BIGINT NOT NULL, 
	whole BIGINT NOT NULL, 
	whole_delta BIGINT NOT NULL, 
	charges BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	PRIMARY KEY (identity), 
	UNIQUE (name)
);
INSERT INTO "bruit_books" VALUES('9a6cb731995e4974a9e1c15debba26b0','clinic','{"epsilon": "1", "delta": "0", "neighbours": "add or remove one", "person": "id", "by": "basic", "order": null}',1794825843200163,'1',720720000000000,0,180180000000000,0,180180000000000,0,1,1794825843230026);
CREATE TABLE bruit_cells (
	book VARCHAR(32) NOT NULL, 
	partition TEXT NOT NULL, 
	cell TEXT NOT NULL, 
	total BIGINT NOT NULL, 
	total_delta BIGINT NOT NULL, 
	PRIMARY KEY (book, partition, cell), 
	FOREIGN KEY(book) REFERENCES bruit_books (identity)
);
CREATE TABLE bruit_counters (
	poll VARCHAR(32) NOT NULL, 
	round INTEGER NOT NULL, 
	answers BIGINT NOT NULL, 
	counts BLOB NOT NULL, 
	PRIMARY KEY (poll, round), 
	FOREIGN KEY(poll) REFERENCES bruit_polls (identity)
);
INSERT INTO "bruit_counters" VALUES('abcdefghjk',1,1,X'00000000000000000100000000000000');
CREATE TABLE bruit_entries (
	book VARCHAR(32) NOT NULL, 
	number BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	what TEXT NOT NULL, 
	who TEXT NOT NULL, 
	loss TEXT NOT NULL, 
	guarantee TEXT NOT NULL, 
	accountant TEXT NOT NULL, 
	cost BIGINT NOT NULL, 
	cost_delta BIGINT NOT NULL, 
	total BIGINT NOT NULL, 
	total_delta BIGINT NOT NULL, 
	partition TEXT, 
	cell TEXT, 
	source VARCHAR(64), 
	release TEXT, 
	PRIMARY KEY (book, number), 
	FOREIGN KEY(book) REFERENCES bruit_books (identity)
);
INSERT INTO "bruit_entries" VALUES('9a6cb731995e4974a9e1c15debba26b0',1,1794825843230026,'central.count','somebody','{"kind": "Pure", "neighbours": "add or remove one", "epsilon": "1/4"}','{"epsilon": "1/4", "delta": "0", "neighbours": "add or remove one", "unit": "id", "by": "basic", "assumes": []}','1',180180000000000,0,180180000000000,0,NULL,NULL,NULL,NULL);
CREATE TABLE bruit_partitions (
	book VARCHAR(32) NOT NULL, 
	partition TEXT NOT NULL, 
	largest INTEGER NOT NULL, 
	worst BIGINT NOT NULL, 
	worst_delta BIGINT NOT NULL, 
	PRIMARY KEY (book, partition), 
	FOREIGN KEY(book) REFERENCES bruit_books (identity)
);
CREATE TABLE bruit_polls (
	identity VARCHAR(32) NOT NULL, 
	definition TEXT NOT NULL, 
	link_hash VARCHAR(64) NOT NULL, 
	password_hash VARCHAR(64) NOT NULL, 
	password_salt VARCHAR(64) NOT NULL, 
	round INTEGER NOT NULL, 
	is_open BOOLEAN NOT NULL, 
	created BIGINT NOT NULL, 
	PRIMARY KEY (identity)
);
INSERT INTO "bruit_polls" VALUES('abcdefghjk','{"kind": "yes-no", "question": "Old?", "epsilon": "1", "forever": null, "choices": [], "low": null, "high": null, "grid": null, "results": "everyone", "protocol": {"protocol": "Warner", "version": 1, "categories": ["no", "yes"], "other": false, "settings": {"epsilon": "1"}, "epsilon": "1", "law": {"kind": "symmetric", "out_of": 4503599627370496, "size": 2, "keep": 3292395142304094, "other": 1211204485066402, "epsilon": "9999999999999995207563095863131550081849/10000000000000000000000000000000000000000"}}}','0000000000000000000000000000000000000000000000000000000000000000','','',1,1,1);
CREATE TABLE bruit_reports (
	poll VARCHAR(32) NOT NULL, 
	round INTEGER NOT NULL, 
	token VARCHAR(32) NOT NULL, 
	report TEXT NOT NULL, 
	PRIMARY KEY (poll, round, token), 
	FOREIGN KEY(poll) REFERENCES bruit_polls (identity)
)
 WITHOUT ROWID

;
INSERT INTO "bruit_reports" VALUES('abcdefghjk',1,'abababababababababababababababab','1');
CREATE TABLE bruit_schema (part VARCHAR(40) PRIMARY KEY, number INTEGER NOT NULL);
INSERT INTO "bruit_schema" VALUES('reports',1);
INSERT INTO "bruit_schema" VALUES('ledger',1);
CREATE INDEX bruit_entries_source ON bruit_entries (book, source);
CREATE INDEX bruit_cells_total_delta ON bruit_cells (book, partition, total_delta);
CREATE INDEX bruit_cells_total ON bruit_cells (book, partition, total);
COMMIT;
