import { readdir } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { Pack } from 'tar-stream';
import { addFile, addText } from './add-to-tar.ts';
import { POSTGRES } from './layout.ts';

/** Folders whose content PostgreSQL recreates at startup; pg_wal is copied at the end. */
const EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
/** Files that belong to the running server only. */
const LEFT_OUT = /^(postmaster\.(pid|opts)|server\.log.*|pg_internal\.init.*|pgsql_tmp.*|\.s\.PGSQL.*)$/;
/** Contains the start position of the log; copied after the files that it refers to. */
const CONTROL = 'global/pg_control';

/**
 * Adds the files of a running cluster with PostgreSQL's backup protocol: changes during the copy are in the
 * log copied afterwards, and are applied when the copy first starts. Returns the number of added files and
 * folders.
 */
export async function copyCluster(tar: Pack, { url, dir }: { url: string; dir: string }): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Prevents the log from being recycled; dropped with the connection.
    await client.query(
      "select pg_create_physical_replication_slot('bakehouse_backup_' || pg_backend_pid(), true, true)",
    );
    const started = await client.query<{ wal: string }>(
      "select pg_walfile_name(pg_backup_start('bakehouse', fast => true)) as wal",
    );
    let added = await addFolder(tar, dir, '');
    added += Number(await addFile(tar, path.dirname(dir), path.join(POSTGRES, CONTROL)));
    const stopped = await client.query<{ label: string; wal: string }>(
      `select labelfile as label, pg_walfile_name(lsn) as wal from pg_backup_stop(wait_for_archive => false)`,
    );
    await addText(tar, path.join(POSTGRES, 'backup_label'), stopped.rows[0]?.label ?? '');
    added += 1;
    const [first, last] = [started.rows[0]?.wal ?? '', stopped.rows[0]?.wal ?? ''];
    for (const name of (await readdir(path.join(dir, 'pg_wal'))).sort()) {
      if (!/^[0-9A-F]{24}$/.test(name) || name < first || name > last) continue;
      added += Number(await addFile(tar, path.dirname(dir), path.join(POSTGRES, 'pg_wal', name)));
    }
    return added;
  } finally {
    await client.end();
  }
}

async function addFolder(tar: Pack, dir: string, below: string): Promise<number> {
  let added = 0;
  for (const entry of await readdir(path.join(dir, below), { withFileTypes: true })) {
    const name = path.join(below, entry.name);
    if (LEFT_OUT.test(entry.name) || name === CONTROL) continue;
    if (entry.isDirectory()) {
      tar.entry({ name: path.join(POSTGRES, name), type: 'directory', mode: 0o700 });
      added += 1;
      if (!EMPTY.has(name)) added += await addFolder(tar, dir, name);
    } else if (entry.isFile()) {
      added += Number(await addFile(tar, path.dirname(dir), path.join(POSTGRES, name)));
    }
  }
  return added;
}
