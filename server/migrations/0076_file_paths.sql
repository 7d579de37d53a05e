-- Paths are compared byte by byte, whatever the database's own collation: a folder is a range of the index.
alter table asset_files alter column path type text collate "C";
