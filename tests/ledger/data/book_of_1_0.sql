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
INSERT INTO "bruit_books" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb','payroll of 1.0','{"epsilon": "5", "delta": "1/1000", "neighbours": "add or remove one", "person": "each row", "by": "basic", "order": null}',1730000029742545,'1',3603600000000000,720720000000000,1117111018710138,720720000000,756751018710138,720720000000,5,1730000039550898);
CREATE TABLE bruit_cells (
	book VARCHAR(32) NOT NULL, 
	partition TEXT NOT NULL, 
	cell TEXT NOT NULL, 
	total BIGINT NOT NULL, 
	total_delta BIGINT NOT NULL, 
	PRIMARY KEY (book, partition, cell), 
	FOREIGN KEY(book) REFERENCES bruit_books (identity)
);
INSERT INTO "bruit_cells" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb','month','may',360360000000000,0);
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
INSERT INTO "bruit_entries" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb',1,1730000029804744,'central.count','steward','{"kind": "DiscreteLaplace", "neighbours": "add or remove one", "scale": "4", "sensitivity": 1}','{"epsilon": "1/4", "delta": "0", "neighbours": "add or remove one", "unit": "each row", "by": "basic", "assumes": ["seeded"]}','1',180180000000000,0,180180000000000,0,NULL,NULL,NULL,'{"value": 6, "labels": ["count"], "interval": {"low": 0.0, "high": 18.0, "confidence": 0.95, "covers": "this table", "joint": false}, "noise": 12.0, "guarantee": {"epsilon": "1/4", "delta": "0", "neighbours": "add or remove one", "unit": "each row", "by": "basic", "assumes": ["seeded"]}, "method": "DiscreteLaplace", "details": {"asked": {"columns": [], "by": [], "person": "each row", "rows": 1, "groups": null}}}');
INSERT INTO "bruit_entries" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb',2,1730000037528297,'central.histogram','steward','{"kind": "DiscreteLaplace", "neighbours": "add or remove one", "scale": "2", "sensitivity": 1}','{"epsilon": "1/2", "delta": "0", "neighbours": "add or remove one", "unit": "each row", "by": "basic", "assumes": ["seeded"]}','1',360360000000000,0,540540000000000,0,'month','may',NULL,'{"value": [1, 2, -2], "labels": ["Paris", "Lyon", "OTHER"], "interval": {"low": [0.0, 0.0, 0.0], "high": [7.0, 8.0, 4.0], "confidence": 0.95, "covers": "this table", "joint": false}, "noise": 6.0, "guarantee": {"epsilon": "1/2", "delta": "0", "neighbours": "add or remove one", "unit": "each row", "by": "basic", "assumes": ["seeded"]}, "method": "DiscreteLaplace", "details": {"asked": {"columns": [], "by": [{"name": "city", "domain": {"domain": "among", "values": ["Paris", "Lyon"], "drop_others": false}}], "person": "each row", "rows": 1, "groups": 1}}}');
INSERT INTO "bruit_entries" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb',3,1730000038738571,'learning.NaiveBayes','steward','{"kind": "Composed", "neighbours": "add or remove one", "counted": [[{"kind": "Pure", "neighbours": "add or remove one", "epsilon": "1/3"}, 1], [{"kind": "Pure", "neighbours": "add or remove one", "epsilon": "1/6"}, 1]]}','{"epsilon": "1/2", "delta": "0", "neighbours": "add or remove one", "unit": "each row", "by": "basic", "assumes": ["seeded"]}','1',360360000000000,0,900900000000000,0,NULL,NULL,NULL,NULL);
INSERT INTO "bruit_entries" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb',4,1730000039538494,'three counts','steward','{"kind": "Composed", "neighbours": "add or remove one", "counted": [[{"kind": "DiscreteLaplace", "neighbours": "add or remove one", "scale": "10", "sensitivity": 1}, 3]]}','{"epsilon": "5404195045489895/18014398509481984", "delta": "1/1000000", "neighbours": "add or remove one", "unit": "each row", "by": "pld", "assumes": []}','1',216211018710138,720720000000,1117111018710138,720720000000,NULL,NULL,NULL,NULL);
INSERT INTO "bruit_entries" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb',5,1730000039550898,'central.count','steward','{"kind": "DiscreteLaplace", "neighbours": "add or remove one", "scale": "10", "sensitivity": 1}','{"epsilon": "1/10", "delta": "0", "neighbours": "add or remove one", "unit": "each row", "by": "basic", "assumes": ["seeded"]}','1',0,0,1117111018710138,720720000000,NULL,NULL,'entry 4, loss 1','{"value": -1, "labels": ["count"], "interval": {"low": 0.0, "high": 29.0, "confidence": 0.95, "covers": "this table", "joint": false}, "noise": 30.0, "guarantee": {"epsilon": "1/10", "delta": "0", "neighbours": "add or remove one", "unit": "each row", "by": "basic", "assumes": ["seeded"]}, "method": "DiscreteLaplace", "details": {"asked": {"columns": [], "by": [], "person": "each row", "rows": 1, "groups": null}}}');
CREATE TABLE bruit_partitions (
	book VARCHAR(32) NOT NULL, 
	partition TEXT NOT NULL, 
	largest INTEGER NOT NULL, 
	worst BIGINT NOT NULL, 
	worst_delta BIGINT NOT NULL, 
	PRIMARY KEY (book, partition), 
	FOREIGN KEY(book) REFERENCES bruit_books (identity)
);
INSERT INTO "bruit_partitions" VALUES('b5e5572f92864ac2a88d2a2f5c0a22eb','month',1,360360000000000,0);
CREATE TABLE bruit_schema (part VARCHAR(40) PRIMARY KEY, number INTEGER NOT NULL);
INSERT INTO "bruit_schema" VALUES('ledger',1);
CREATE INDEX bruit_entries_source ON bruit_entries (book, source);
CREATE INDEX bruit_cells_total_delta ON bruit_cells (book, partition, total_delta);
CREATE INDEX bruit_cells_total ON bruit_cells (book, partition, total);
COMMIT;
