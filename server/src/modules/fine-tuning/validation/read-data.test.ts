import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import { trainingParameters } from '@bakehouse/contract/runtime/train-spec';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../../config.ts';
import {
  environmentDir,
  environmentPython,
  runtimeDir,
} from '../../../engine/host/environment/environment.ts';
import { lockFiles } from '../../../engine/host/environment/layers.ts';
import { noSandbox } from '../../../platform/sandbox/sandbox.ts';
import { openLocalBlobStore } from '../../../platform/storage/local-blob-store.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { goodData } from '../testing/test-run.ts';
import { deduplicateReads } from './deduplicate-reads.ts';
import { type DataToRead, dataReader, type ReadData } from './read-data.ts';

const { db } = await testDatabase();

/** Installs a Python environment whose interpreter is a script of these lines. */
async function withPython(...script: string[]) {
  const home = await temporaryFolder();
  const config = { ...readConfig({}), cacheDir: path.join(home, 'cache') };
  const dir = await environmentDir(config);
  await mkdir(path.join(dir, 'bin'), { recursive: true });
  const lock = await readFile(path.join(runtimeDir, lockFiles.training));
  await writeFile(path.join(dir, '.bakehouse-training'), createHash('sha256').update(lock).digest('hex'));
  const memo = path.join(home, 'second-time');
  const lines = ['#!/bin/sh', `first() { test ! -e ${memo}; }`, ...script];
  await writeFile(await environmentPython(config), lines.join('\n'), { mode: 0o755 });
  const blobs = await openLocalBlobStore(path.join(home, 'blobs'));
  await blobs.write(Readable.from([rows]));
  const ctx: Parameters<ReadData>[0] = {
    config,
    blobs,
    db,
    clock: fakeClock(),
    log: pino({ level: 'silent' }),
    caller: { kind: 'user', userId: 'ada', isOperator: false },
    sandbox: noSandbox(path.join(home, 'lent')),
  };
  return {
    ctx,
    /**
     * Makes further calls of `first` fail. The test does this itself, because on a busy machine the script
     * may not have started.
     */
    endFirst: () => writeFile(memo, ''),
  };
}

const { segmentation_method, max_chunk_size, stride, min_segment_length, train_test_split } =
  fineTuneDefaults;
const rows = 'question,answer\na,b\n';
const input: DataToRead = {
  base: [],
  dataFile: { path: 'rows.csv', sha256: createHash('sha256').update(rows).digest('hex') },
  validationFile: null,
  spec: {
    data: {
      file_path: 'rows.csv',
      format: null,
      input_column: 'question',
      output_column: 'answer',
      rejected_column: null,
      label_column: null,
      system_column: null,
      segmentation_method,
      max_chunk_size,
      stride,
      min_segment_length,
      validation_path: null,
      train_test_split,
      seed: 1,
      date: '2026-11-20',
    },
    parameters: trainingParameters.parse({
      ...fineTuneDefaults,
      lora: { r: 8, alpha: 16, dropout: 0, target_modules: ['q_proj'] },
    }),
  },
};

const PATIENT_MS = 60_000;
const report = `echo '${JSON.stringify(goodData)}'`;

test.each([
  [
    'killed for its memory',
    'first && kill -9 $$',
    PATIENT_MS,
    'unavailable',
    /^Reading rows.csv was interrupted/,
  ],
  // Reading the same file again would not help the user. Still, nothing is cached, because the machine may
  // have been busy.
  [
    'too slow',
    'first && exec sleep 60',
    300,
    'invalid_request',
    /^Reading rows.csv made no progress. Use shorter texts/,
  ],
])(
  'a reader that was %s leaves no cached result: the next call reads again',
  async (_case, line, limitMs, code, sentence) => {
    const { ctx, endFirst } = await withPython(line, report);
    const limits = [limitMs, PATIENT_MS];
    const read = deduplicateReads((...call) => dataReader(limits.shift() ?? 0)(...call));
    const publicMessage = expect.stringMatching(sentence);
    await expect(read(ctx, input)).rejects.toMatchObject({ code, publicMessage });
    await endFirst();
    expect(await read(ctx, input)).toEqual(goodData);
  },
);

test.runIf(process.platform === 'linux')('a reader starts with normal priority', async () => {
  const { ctx } = await withPython('chrt --pid $$ > "$(dirname "$0")/priority"', report);
  const priority = path.join(path.dirname(await environmentPython(ctx.config)), 'priority');
  await dataReader(PATIENT_MS)(ctx, input);
  expect(await readFile(priority, 'utf8')).toContain('SCHED_OTHER');
});

test('a reader ends when no caller waits for it', async () => {
  const { ctx } = await withPython('first && exec sleep 60', report);
  const gone = new AbortController();
  const reading = dataReader(PATIENT_MS)(ctx, input, { signal: gone.signal });
  gone.abort(new Error('disconnected'));
  await expect(reading).rejects.toThrow('disconnected');
});

test('a reader that exits without a report is an internal error and nothing is cached', async () => {
  const { ctx, endFirst } = await withPython(
    'first && { echo "No module named numpy" >&2; exit 1; }',
    report,
  );
  const read = deduplicateReads(dataReader(PATIENT_MS));
  await expect(read(ctx, input)).rejects.toThrow('No module named numpy');
  await endFirst();
  expect(await read(ctx, input)).toEqual(goodData);
});

test('a data file whose bytes are lost is reported by name', async () => {
  const { ctx } = await withPython(report);
  await ctx.blobs.delete(input.dataFile.sha256);
  await expect(dataReader(PATIENT_MS)(ctx, input)).rejects.toMatchObject({
    code: 'conflict',
    publicMessage: expect.stringContaining('The stored bytes of rows.csv are damaged'),
  });
});
