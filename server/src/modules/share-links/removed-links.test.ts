import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { MIGRATIONS_DIR, migrate } from '../../platform/db/setup/migrate.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { createDatabase, dropDatabase } from '../../testing/temporary-postgres.ts';

const STEP = '0066_share_links_of_generations.sql';

test('the upgrade keeps the links of generations and drops those of runs and models', async () => {
  const name = `share_links_${process.pid}`;
  const url = await createDatabase(inject('postgresUrl'), name);
  onFileEnd(() => dropDatabase(inject('postgresUrl'), name));
  const dir = await temporaryFolder();
  const addSteps = async (isWanted: (step: string) => boolean) => {
    const steps = (await readdir(MIGRATIONS_DIR)).filter((step) => step.endsWith('.sql') && isWanted(step));
    for (const step of steps) await cp(path.join(MIGRATIONS_DIR, step), path.join(dir, step));
    await migrate(url, dir);
  };
  await addSteps((step) => step < STEP);
  const client = new pg.Client({ connectionString: url });
  onFileEnd(() => client.end());
  await client.connect();
  // Without foreign keys: the test needs no generation, run or model.
  await client.query('set session_replication_role = replica');
  await client.query(`insert into share_links (user_id, generation_id, run_id, asset_id) values
    ('ada', gen_random_uuid(), null, null),
    ('ada', null, gen_random_uuid(), null),
    ('ada', null, null, gen_random_uuid())`);
  const kept = await client.query(
    'select id, generation_id from share_links where generation_id is not null',
  );
  await addSteps((step) => step === STEP);
  const { rows } = await client.query('select id, generation_id from share_links');
  expect(rows).toEqual(kept.rows);
  expect(rows).toHaveLength(1);
});
